// Package guard counts what a write costs and does not depend on the machine: allocations, requests and bytes.
package guard

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// The guards below count what does not depend on the machine: allocations, requests and bytes. docs/performance.md has
// the ratios to other ways of writing status.

const finalizer = "statuspatcher.dev/cleanup"

func addFinalizer(cell *v1.Cell) { controllerutil.AddFinalizer(cell, finalizer) }

// counting answers each patch with an object made beforehand, and keeps the bodies.
type counting struct {
	client.Client
	stored *v1.Cell
	bodies []string
}

func (c *counting) Status() client.SubResourceWriter { return &countingStatus{c: c} }

type countingStatus struct {
	client.SubResourceWriter
	c *counting
}

func (s *countingStatus) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	body, err := patch.Data(obj)
	s.c.bodies = append(s.c.bodies, string(body))
	*obj.(*v1.Cell) = *s.c.stored
	return err
}

// guardedCell is a typical object; settings is the size of its spec.
func guardedCell(settings int) *v1.Cell {
	cell := &v1.Cell{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "a", ResourceVersion: "1", UID: "6f1c2a5e", Generation: 1,
			Labels: map[string]string{"a": "1", "b": "2", "c": "3"}, Annotations: map[string]string{"d": "4", "e": "5"},
		},
		Spec:   v1.CellSpec{Image: "image:1", Settings: map[string]string{}},
		Status: v1.CellStatus{Phase: "Running", Plan: &v1.Plan{ID: "plan", Done: true}},
	}
	for i := range settings {
		cell.Spec.Settings[fmt.Sprint(i)] = strings.Repeat("x", 1000)
	}
	for i := range 5 {
		cell.Status.Conditions = append(cell.Status.Conditions, metav1.Condition{Type: fmt.Sprint("Condition", i), Status: "True", Reason: "AsExpected", LastTransitionTime: metav1.Unix(1_700_000_000, 0)})
		cell.Status.Plan.Tasks = append(cell.Status.Plan.Tasks, v1.Task{Name: fmt.Sprint("task", i)})
	}
	return cell
}

// allocations counts those of one capture and Flush, with what mutate does to a shallow copy of the object.
func allocations(t *testing.T, stored *v1.Cell, mutate func(*v1.CellStatus), opts ...patcher.Option) (allocations float64, bodies []string) {
	t.Helper()
	c := &counting{stored: stored.DeepCopy()}
	c.stored.ResourceVersion = "2"
	mutate(&c.stored.Status)
	statuses := v1status.NewCellStatusClient(c, patcher.NoLiveReader, opts...)
	cell := &v1.Cell{}
	allocations = testing.AllocsPerRun(100, func() {
		c.bodies = c.bodies[:0]
		*cell = *stored
		p, err := statuses.For(cell)
		if err != nil {
			t.Fatal(err)
		}
		mutate(&cell.Status)
		if _, err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return allocations, c.bodies
}

func TestGuard_NothingChanged(t *testing.T) {
	stored := guardedCell(0)
	statusCopy := testing.AllocsPerRun(100, func() { stored.Status.DeepCopyInto(&v1.CellStatus{}) })
	got, bodies := allocations(t, stored, func(*v1.CellStatus) {})
	if len(bodies) != 0 {
		t.Errorf("sent %s, want no request", bodies)
	}
	if want := statusCopy + 1; got != want {
		t.Errorf("%v allocations, want %v: the copy of the status (%v) and the patcher", got, want, statusCopy)
	}
	t.Run("control: one more is seen", func(t *testing.T) {
		var kept *v1.CellStatus
		more, _ := allocations(t, stored, func(*v1.CellStatus) { kept = new(v1.CellStatus) })
		if more != got+1 || kept == nil {
			t.Errorf("%v allocations, want %v", more, got+1)
		}
	})
}

func TestGuard_FractionsOfASecondCostNothing(t *testing.T) {
	stored := guardedCell(0)
	written := stored.Status.DeepCopy()
	for i := range written.Conditions {
		written.Conditions[i].LastTransitionTime = metav1.Unix(1_700_000_000, 5)
	}
	want, _ := allocations(t, stored, func(*v1.CellStatus) {})
	got, bodies := allocations(t, stored, func(s *v1.CellStatus) { s.Conditions = written.Conditions })
	if got != want || len(bodies) != 0 {
		t.Errorf("%v allocations, sent %s; want %v and no request, as without fractions", got, bodies, want)
	}
	t.Run("control: what takes a look at the JSON is seen", func(t *testing.T) {
		got, _ := allocations(t, stored, func(s *v1.CellStatus) { s.Writers = []string{} })
		if got <= want {
			t.Errorf("%v allocations, and %v without", got, want)
		}
	})
}

func TestGuard_FieldChanged(t *testing.T) {
	got, bodies := allocations(t, guardedCell(0), func(s *v1.CellStatus) { s.Phase = "Failed" })
	// The minimal merge patch and the lock.
	if want := `{"metadata":{"resourceVersion":"1"},"status":{"phase":"Failed"}}`; len(bodies) != 1 || bodies[0] != want {
		t.Errorf("sent %q, want one request, %s", bodies, want)
	}
	// Half of it is MergeFrom's. It was 125 while trees were built of every change, and 1,400 by hand.
	if limit := 95.0; got > limit {
		t.Errorf("%v allocations, want at most %v", got, limit)
	}
	t.Run("control: a change that needs trees is beyond the limit", func(t *testing.T) {
		got, _ := allocations(t, guardedCell(0), func(s *v1.CellStatus) {
			s.Phase = "Failed"
			s.Free = &runtime.RawExtension{Raw: []byte(`1`)}
		})
		if got <= 95 {
			t.Errorf("%v allocations: the limit of TestGuard_FieldChanged can be lower", got)
		}
	})
}

func TestGuard_FieldOfAnObjectChanged(t *testing.T) {
	stored := guardedCell(0)
	got, bodies := allocations(t, stored, func(s *v1.CellStatus) {
		s.Plan = &v1.Plan{ID: "other", Done: true, Tasks: stored.Status.Plan.Tasks}
	})
	if want := `{"metadata":{"resourceVersion":"1"},"status":{"plan":{"id":"other"}}}`; len(bodies) != 1 || bodies[0] != want {
		t.Errorf("sent %q, want one request, %s", bodies, want)
	}
	if limit := 110.0; got > limit {
		t.Errorf("%v allocations, want at most %v", got, limit)
	}
	t.Run("control: free-form JSON, which is decoded, is beyond the limit", func(t *testing.T) {
		stored.Status.Free = &runtime.RawExtension{Raw: []byte(`{"a":{"b":1}}`)}
		got, _ := allocations(t, stored, func(s *v1.CellStatus) {
			s.Free = &runtime.RawExtension{Raw: []byte(`{"a":{"b":2}}`)}
		})
		if got <= 110 {
			t.Errorf("%v allocations: the limit of TestGuard_FieldOfAnObjectChanged can be lower", got)
		}
	})
}

func TestGuard_OneConditionChanged(t *testing.T) {
	few, many := guardedCell(0), guardedCell(0)
	for i := range 195 {
		many.Status.Conditions = append(many.Status.Conditions, metav1.Condition{Type: fmt.Sprint("More", i), Status: "True", Reason: "AsExpected", LastTransitionTime: metav1.Unix(1_700_000_000, 0)})
	}
	change := func(stored *v1.Cell) func(*v1.CellStatus) {
		changed := stored.Status.DeepCopy().Conditions
		changed[1].Status, changed[1].Reason = "False", "Degraded"
		return func(s *v1.CellStatus) { s.Conditions = changed }
	}
	want := `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"},` +
		`{"op":"test","path":"/status/conditions/1/type","value":"Condition1"},` +
		`{"op":"add","path":"/status/conditions/1/status","value":"False"},` +
		`{"op":"add","path":"/status/conditions/1/reason","value":"Degraded"}]`
	for _, row := range []struct {
		name   string
		stored *v1.Cell
		limit  float64
	}{{"of 5", few, 55}, {"of 200", many, 60}} {
		got, bodies := allocations(t, row.stored, change(row.stored), patcher.PatchListEntries())
		if len(bodies) != 1 || bodies[0] != want {
			t.Errorf("%s: sent %q, want %s", row.name, bodies, want)
		}
		if got > row.limit {
			t.Errorf("%s: %v allocations, want at most %v", row.name, got, row.limit)
		}
	}
	t.Run("control: the whole list is beyond the limits", func(t *testing.T) {
		got, bodies := allocations(t, few, change(few))
		if got <= 55 || len(bodies[0]) <= len(want) {
			t.Errorf("%v allocations, %d bytes", got, len(bodies[0]))
		}
	})
}

func TestGuard_TheSpecCostsNothing(t *testing.T) {
	for _, row := range []struct {
		name   string
		mutate func(*v1.CellStatus)
	}{
		{"nothing changed", func(*v1.CellStatus) {}},
		{"a field changed", func(s *v1.CellStatus) { s.Phase = "Failed" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			small, smallBodies := allocations(t, guardedCell(0), row.mutate)
			large, largeBodies := allocations(t, guardedCell(1000), row.mutate)
			if fmt.Sprint(smallBodies) != fmt.Sprint(largeBodies) {
				t.Errorf("a large spec changes what is sent from %q to %q", smallBodies, largeBodies)
			}
			// A copy of the large spec alone takes a thousand. Under the race detector encoding/json's pools lose a few.
			if large > small+10 {
				t.Errorf("%v allocations with a small spec, %v with a large one", small, large)
			}
		})
	}
}

// Nearly every PatchMetadata of a reconcile adds a finalizer that is there.
func TestGuard_MetadataUnchanged(t *testing.T) {
	for name, settings := range map[string]int{"small": 0, "a large spec": 1000} {
		t.Run(name, func(t *testing.T) {
			yes := true
			cell := guardedCell(settings)
			cell.Finalizers = []string{finalizer}
			cell.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u", Controller: &yes}}
			p, err := v1status.NewCellStatusClient(&counting{}, patcher.NoLiveReader).For(cell)
			if err != nil {
				t.Fatal(err)
			}
			got := testing.AllocsPerRun(100, func() {
				if result, err := p.PatchMetadata(t.Context(), addFinalizer); err != nil || result != patcher.ResultUnchanged {
					t.Fatal(result, err)
				}
			})
			if got != 0 {
				t.Errorf("%v allocations", got)
			}
			t.Run("labels that are replaced by equal ones", func(t *testing.T) {
				same := maps.Clone(cell.Labels)
				got := testing.AllocsPerRun(100, func() {
					if result, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.Labels = same }); err != nil || result != patcher.ResultUnchanged {
						t.Fatal(result, err)
					}
				})
				if got > 1 { // the function itself, which captures them
					t.Errorf("%v allocations", got)
				}
			})
			t.Run("control: a finalizer that is not there takes copies", func(t *testing.T) {
				got := testing.AllocsPerRun(10, func() {
					_, _ = p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.Name = "other" })
				})
				if got < 10 {
					t.Errorf("%v allocations", got)
				}
			})
		})
	}
}

func BenchmarkMetadataUnchanged(b *testing.B) {
	cell := guardedCell(100)
	cell.Finalizers = []string{finalizer}
	p, err := v1status.NewCellStatusClient(&counting{}, patcher.NoLiveReader).For(cell)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = p.PatchMetadata(b.Context(), addFinalizer)
	}
}

// reading returns the same object for every Get, as a cache that hands out its own.
type reading struct {
	client.Client
	stored *v1.Cell
}

func (r *reading) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	*obj.(*v1.Cell) = *r.stored
	return nil
}

// An object that is passed around costs at most twice what a patcher does.
func TestGuard_GetAndFlush(t *testing.T) {
	r := &reading{stored: guardedCell(0)}
	statuses := v1status.NewCellStatusClient(r, patcher.NoLiveReader)
	key := client.ObjectKeyFromObject(r.stored)
	fetch := testing.AllocsPerRun(1000, func() {
		if _, p, err := statuses.Fetch(t.Context(), key); err != nil || p.Changed() {
			t.Fatal(err)
		}
	})
	forAndFlush, _ := allocations(t, r.stored, func(*v1.CellStatus) {})
	cell := &v1.Cell{}
	getAndFlush := testing.AllocsPerRun(1000, func() {
		if err := statuses.Get(t.Context(), key, cell); err != nil {
			t.Fatal(err)
		}
		if result, err := statuses.Flush(t.Context(), cell); err != nil || result != patcher.ResultUnchanged {
			t.Fatal(result, err)
		}
	})
	if getAndFlush > 2*forAndFlush || getAndFlush > fetch {
		t.Errorf("%v allocations through Get and Flush, %v through Fetch, %v through For", getAndFlush, fetch, forAndFlush)
	}
}

func BenchmarkUnchanged(b *testing.B) {
	r := &reading{stored: guardedCell(0)}
	statuses := v1status.NewCellStatusClient(r, patcher.NoLiveReader)
	key, cell := client.ObjectKeyFromObject(r.stored), &v1.Cell{}
	b.Run("For", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			*cell = *r.stored
			p, _ := statuses.For(cell)
			_, _ = p.Flush(b.Context())
		}
	})
	b.Run("Fetch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, p, _ := statuses.Fetch(b.Context(), key)
			_, _ = p.Flush(b.Context())
		}
	})
	b.Run("GetAndFlush", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = statuses.Get(b.Context(), key, cell)
			_, _ = statuses.Flush(b.Context(), cell)
		}
	})
}

func BenchmarkOneConditionChanged(b *testing.B) {
	for _, conditions := range []int{1, 5, 200} {
		b.Run(fmt.Sprint(conditions), func(b *testing.B) {
			stored := guardedCell(0)
			stored.Status.Conditions = make([]metav1.Condition, conditions)
			for i := range conditions {
				stored.Status.Conditions[i] = metav1.Condition{Type: fmt.Sprint("Condition", i), Status: "True", Reason: "AsExpected", LastTransitionTime: metav1.Unix(1_700_000_000, 0)}
			}
			changed := stored.Status.DeepCopy().Conditions
			changed[0].Status, changed[0].Reason = "False", "Degraded"
			c := &counting{stored: stored.DeepCopy()}
			c.stored.ResourceVersion, c.stored.Status.Conditions = "2", changed
			statuses, cell := v1status.NewCellStatusClient(c, patcher.NoLiveReader, patcher.PatchListEntries()), &v1.Cell{}
			b.ReportAllocs()
			for b.Loop() {
				c.bodies = c.bodies[:0]
				*cell = *stored
				p, _ := statuses.For(cell)
				cell.Status.Conditions = changed
				if _, err := p.Flush(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
