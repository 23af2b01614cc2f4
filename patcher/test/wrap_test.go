package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// wrapped wraps the client of a bed.
func (b *bed) wrapped(mode patcher.Mode, opts ...patcher.WrapOption) *patcher.WrappedClient {
	return patcher.Wrap(b.wire, mode, v1status.Kinds()...).With(opts...)
}

// read reads the cell through c, and takes a base.
func (b *bed) read(c client.Client) (cell, base *v1.Cell) {
	b.Helper()
	cell = &v1.Cell{}
	b.must(c.Get(b.ctx, client.ObjectKeyFromObject(b.live()), cell))
	return cell, cell.DeepCopy()
}

// A handwritten reconcile that decides on a stale plan: the founding bug.
func mintPlan(ctx context.Context, c client.Client, cell, base *v1.Cell) error {
	cell.Status.Plan = &v1.Plan{ID: "mine"}
	return c.Status().Patch(ctx, cell, client.MergeFrom(base))
}

func TestS70_ABlindPatchGetsTheLockOfItsObject(t *testing.T) {
	for _, row := range []struct {
		name   string
		mode   patcher.Mode
		refuse bool
	}{
		{"rule: a write that would erase another's is refused", patcher.Lock, true},
		{"control: without the lock it lands", patcher.Report, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			c := b.wrapped(row.mode)
			cell, base := b.read(c)
			b.forge(func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "theirs"} })
			err := mintPlan(b.ctx, c, cell, base)
			want := "mine"
			if row.refuse {
				want = "theirs"
			}
			if apierrors.IsConflict(err) != row.refuse || b.live().Status.Plan.ID != want {
				t.Errorf("error %v, and the plan is %s; expected a conflict: %v, and %s", err, b.live().Status.Plan.ID, row.refuse, want)
			}
		})
	}
	t.Run("rule: on the newest version it lands, whoever read the object", func(t *testing.T) {
		b := newBed(t)
		cell := b.live() // not through the wrapped client
		b.must(mintPlan(b.ctx, b.wrapped(patcher.Lock), cell, cell.DeepCopy()))
		if got := b.live().Status.Plan; got == nil || got.ID != "mine" {
			t.Errorf("the plan is %v", got)
		}
	})
	t.Run("rule: a JSON patch, too", func(t *testing.T) {
		b := newBed(t)
		c := b.wrapped(patcher.Lock)
		cell, _ := b.read(c)
		b.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
		patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/status","value":{"phase":"Mine"}}]`))
		if err := c.Status().Patch(b.ctx, cell, patch); !apierrors.IsConflict(err) || b.live().Status.Phase != "Theirs" {
			t.Errorf("error %v, and the phase is %q", err, b.live().Status.Phase)
		}
		cell, _ = b.read(c)
		b.must(c.Status().Patch(b.ctx, cell, patch))
		if got := b.live().Status.Phase; got != "Mine" {
			t.Errorf("control: on the newest version the phase is %q", got)
		}
	})
}

func TestS71_AWriteThatChangesNothingIsNotSent(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) { s.Phase = "Ready" })
	for name, write := range map[string]func(c client.Client, cell, base *v1.Cell) error{
		"a patch": func(c client.Client, cell, base *v1.Cell) error {
			return c.Status().Patch(b.ctx, cell, client.MergeFrom(base))
		},
		"an Update": func(c client.Client, cell, _ *v1.Cell) error { return c.Status().Update(b.ctx, cell) },
	} {
		for _, row := range []struct {
			name string
			mode patcher.Mode
			want int
		}{
			{"rule: in mode Lock", patcher.Lock, 0},
			{"rule: in mode Refuse", patcher.Refuse, 0},
			{"control: in mode Report it is sent", patcher.Report, 1},
		} {
			t.Run(row.name+", "+name, func(t *testing.T) {
				c := b.wrapped(row.mode)
				cell, base := b.read(c)
				sent := b.wire.during(func() { b.must(write(c, cell, base)) })
				if len(sent) != row.want {
					t.Errorf("%d requests, expected %d: %v", len(sent), row.want, sent)
				}
			})
		}
	}
}

// The answer of a dry run has the version of the object, and is not its state.
func TestS71_ADryRunIsNotRemembered(t *testing.T) {
	for name, try := range map[string]func(b *bed, c client.Client, cell, base *v1.Cell) error{
		"Update": func(b *bed, c client.Client, cell, _ *v1.Cell) error {
			return c.Status().Update(b.ctx, cell, client.DryRunAll)
		},
		"Patch": func(b *bed, c client.Client, cell, base *v1.Cell) error {
			return c.Status().Patch(b.ctx, cell, client.MergeFrom(base), client.DryRunAll)
		},
		"a dry-run client": func(b *bed, c client.Client, cell, _ *v1.Cell) error {
			return client.NewDryRunClient(c).Status().Update(b.ctx, cell)
		},
		"control: no try": func(*bed, client.Client, *v1.Cell, *v1.Cell) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, phase("Ready")) // with the schema's defaults, which an answer would add
			c := b.wrapped(patcher.Lock)
			cell, base := b.read(c)
			tried := cell.DeepCopy()
			tried.Status.Phase = "Mine"
			b.must(try(b, c, tried, base))
			cell.Status.Phase = "Mine"
			b.must(c.Status().Update(b.ctx, cell))
			if got := b.live().Status.Phase; got != "Mine" {
				t.Errorf("after the dry run the write was dropped: the phase is %q", got)
			}
		})
	}
}

func TestS72_AnUpdateStaysAnUpdate(t *testing.T) {
	unknown := func(b *bed) {
		b.must(b.wire.Status().Patch(b.ctx, b.live(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"free":{"theirs":1}}}`))))
	}
	for _, row := range []struct {
		name string
		opts []patcher.WrapOption
		verb string
	}{
		{"rule: it needs no other RBAC verb", nil, "update"},
		{"rule: PatchUpdates sends what changed", []patcher.WrapOption{patcher.PatchUpdates()}, "patch"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			unknown(b)
			c := b.wrapped(patcher.Lock, row.opts...)
			cell, _ := b.read(c)
			cell.Status.Phase = "Mine"
			sent := b.wire.during(func() { b.must(c.Status().Update(b.ctx, cell)) })
			if len(sent) != 1 || sent[0].Verb != row.verb {
				t.Fatalf("sent %v, expected one %s", sent, row.verb)
			}
			if row.verb == "patch" && strings.Contains(string(sent[0].Body), "free") {
				t.Errorf("the patch has what did not change: %s", sent[0].Body)
			}
			if live := b.live(); live.Status.Phase != "Mine" || live.ResourceVersion != cell.ResourceVersion {
				t.Errorf("the server has phase %q at %s, the object is at %s", live.Status.Phase, live.ResourceVersion, cell.ResourceVersion)
			}
		})
	}
	t.Run("control: a stale Update conflicts in both ways", func(t *testing.T) {
		for _, opts := range [][]patcher.WrapOption{nil, {patcher.PatchUpdates()}} {
			b := newBed(t)
			c := b.wrapped(patcher.Lock, opts...)
			cell, _ := b.read(c)
			b.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			cell.Status.Phase = "Mine"
			if err := c.Status().Update(b.ctx, cell); !apierrors.IsConflict(err) {
				t.Errorf("%v, expected a conflict", err)
			}
		}
	})
}

func TestS73_WhatIsNotItsBusinessPasses(t *testing.T) {
	b := newBed(t)
	c := b.wrapped(patcher.Lock)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.live().Namespace, Name: "pod"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
	b.must(c.Create(b.ctx, pod))
	base := pod.DeepCopy()
	pod.Status.Message = "another kind"
	b.must(c.Status().Patch(b.ctx, pod, client.MergeFrom(base)))
	bare := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: b.live().Namespace, Name: b.live().Name}}
	b.must(c.Status().Patch(b.ctx, bare.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"no version"}}`))))
	if got := b.live().Status.Phase; got != "no version" {
		t.Errorf("the phase is %q", got)
	}
	report := c.Report()
	if report.Passed[patcher.PassedOtherKind] != 1 || len(report.Blind) != 1 || report.Blind[0].Action != patcher.ActionSent {
		t.Errorf("the report is %v: what passes must be counted", report)
	}
	t.Run("control: in mode Refuse it is refused, by any format, with a version or without", func(t *testing.T) {
		c := b.wrapped(patcher.Refuse)
		cell, base := b.read(c)
		cell.Status.Phase = "Mine"
		for name, err := range map[string]error{
			"with a version": c.Status().Patch(b.ctx, cell, client.MergeFrom(base)),
			"merge patch":    c.Status().Patch(b.ctx, bare.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Mine"}}`))),
			"JSON patch":     c.Status().Patch(b.ctx, bare.DeepCopy(), client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/status/phase","value":"Mine"}]`))),
			"Update":         c.Status().Update(b.ctx, &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: bare.Namespace, Name: bare.Name}}),
		} {
			if !errors.Is(err, patcher.ErrBlindStatusWrite) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := b.live().Status.Phase; got == "Mine" {
			t.Error("a refused write landed")
		}
	})
}

func TestS74_TheReportNamesEachPlaceOnce(t *testing.T) {
	b := newBed(t)
	c := b.wrapped(patcher.Lock)
	for range 3 {
		cell, base := b.read(c)
		cell.Status.Counter++
		b.must(c.Status().Patch(b.ctx, cell, client.MergeFrom(base)))
	}
	cell, base := b.read(c)
	b.must(mintPlan(b.ctx, c, cell, base))
	report := c.Report()
	if len(report.Blind) != 2 || report.Blind[0].Count+report.Blind[1].Count != 4 {
		t.Fatalf("the report is\n%v", report)
	}
	for _, site := range report.Blind {
		if !strings.HasSuffix(site.Site.File, "/wrap_test.go") || site.Kind != "Cell" || site.Class != patcher.BlindMerge || site.Action != patcher.ActionLocked {
			t.Errorf("a site is %+v", site)
		}
	}
	t.Run("control: a locked write is no site", func(t *testing.T) {
		c := b.wrapped(patcher.Lock)
		cell, base := b.read(c)
		cell.Status.Counter++
		b.must(c.Status().Patch(b.ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})))
		if report := c.Report(); len(report.Blind) != 0 {
			t.Errorf("the report is\n%v", report)
		}
	})
}

// churn is a client of objects that never come again.
type churn struct {
	client.Client
	n int
}

// Get returns a new object each time.
func (c *churn) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	c.n++
	cell := obj.(*v1.Cell)
	cell.Name, cell.UID, cell.ResourceVersion = fmt.Sprint("cell-", c.n), types.UID(fmt.Sprint(c.n)), fmt.Sprint(c.n)
	cell.Status.Writers = []string{fmt.Sprint("a writer of cell ", c.n)}
	return nil
}

func TestS75_TheMemoryIsBounded(t *testing.T) {
	heap := func() float64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc) / (1 << 20)
	}
	const objects = 200_000
	c := patcher.Wrap(&churn{Client: newWire(t)}, patcher.Lock, v1status.Kinds()...)
	read := func(n int) {
		for range n {
			if err := c.Get(t.Context(), client.ObjectKey{Name: "a"}, &v1.Cell{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	read(10_000)
	before := heap()
	read(objects)
	if grown := heap() - before; grown > 8 {
		t.Errorf("%.1f MiB more after %d objects, expected none", grown, objects)
	}
	t.Run("control: keeping the objects is seen", func(t *testing.T) {
		var kept []*v1.Cell
		before := heap()
		for range objects / 4 {
			cell := &v1.Cell{}
			if err := c.Get(t.Context(), client.ObjectKey{Name: "a"}, cell); err != nil {
				t.Fatal(err)
			}
			kept = append(kept, cell)
		}
		if grown := heap() - before; grown < 8 {
			t.Errorf("%.1f MiB more with %d objects kept: the test above sees nothing", grown, len(kept))
		}
		runtime.KeepAlive(kept)
	})
	runtime.KeepAlive(c)
}

// 32 handwritten writers, each of its own entries of one list, which a merge patch replaces whole.
func TestS76_BlindWritersLoseNothing(t *testing.T) {
	const writers = 32
	for _, row := range []struct {
		name string
		mode patcher.Mode
		lost bool
	}{
		{"rule: behind a client that locks", patcher.Lock, false},
		{"control: behind one that only reports", patcher.Report, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			c := b.wrapped(row.mode)
			started := make(chan struct{})
			var all sync.WaitGroup
			for i := range writers {
				all.Go(func() {
					for first := true; ; first = false {
						cell := &v1.Cell{}
						if err := c.Get(b.ctx, client.ObjectKeyFromObject(b.live()), cell); err != nil {
							t.Error(err)
							return
						}
						if first && i < writers-1 {
							<-started // every writer has read the same version
						} else if first {
							close(started)
						}
						base := cell.DeepCopy()
						cell.Status.Writers = append(cell.Status.Writers, fmt.Sprint(i))
						err := c.Status().Patch(b.ctx, cell, client.MergeFrom(base))
						if err == nil {
							return
						}
						if !apierrors.IsConflict(err) {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			if got := len(b.live().Status.Writers); (got < writers) != row.lost {
				t.Errorf("%d of %d entries landed, expected losses: %v", got, writers, row.lost)
			}
		})
	}
}

// The API server stores required fields of a status that is empty. A later patch may need them.
func TestS71_AnUpdateOfAnEmptyStatusIsSent(t *testing.T) {
	w := newWire(t)
	of := newKnob(t, w, nil)
	c := patcher.Wrap(w, patcher.Lock, v1status.Kinds()...)
	knob := &v1.Knob{}
	for range 2 { // as reconciles do
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(of), knob); err != nil {
			t.Fatal(err)
		}
		if err := c.Status().Update(t.Context(), knob); err != nil {
			t.Fatal(err)
		}
	}
	requireStatus(t, rawStatus(t, w, of, "Knob"), `{"bytes":"0","holder":null,"grip":{"angle":null}}`)
	base := knob.DeepCopy()
	knob.Status.Phase = "Ready"
	if err := c.Status().Patch(t.Context(), knob, client.MergeFrom(base)); err != nil {
		t.Errorf("a patch of a status that has its required fields: %v", err)
	}
}
