package patcher_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

const cleanup = "statuspatcher.dev/cleanup"

// finalized is a cell that PatchMetadata of its finalizer finds settled, with a spec and a status behind pointers.
func finalized() *v1.Cell {
	cell := newCell(0)
	cell.Finalizers, cell.Labels = []string{cleanup}, map[string]string{"app": "cell"}
	cell.Spec = v1.CellSpec{Image: "image:1", Settings: map[string]string{"mode": "fast"}}
	cell.Status.Plan = &v1.Plan{ID: "plan"}
	return cell
}

// fetched is a patcher of a cell in a fake client.
func fetched(t *testing.T, stored *v1.Cell) (*v1.Cell, *v1status.CellStatusPatcher) {
	t.Helper()
	c := newFake(t, stored)
	cell, p, err := v1status.NewCellStatusClient(c, c).Fetch(t.Context(), client.ObjectKeyFromObject(stored))
	mustNot(t, err)
	return cell, p
}

// A mutate function is one function here, whatever it does: nothing the first time, and edit later.
func later(edit func(*v1.Cell)) func(*v1.Cell) {
	first := true
	return func(c *v1.Cell) {
		if !first {
			edit(c)
		}
		first = false
	}
}

func addCleanup(c *v1.Cell) { controllerutil.AddFinalizer(c, cleanup) }

func TestPatchMetadata_AnEditOfAnythingElseIsReported(t *testing.T) {
	edits := map[string]func(*v1.Cell){
		"spec":                     func(c *v1.Cell) { c.Spec.Image = "image:2" },
		"spec, in a map":           func(c *v1.Cell) { c.Spec.Settings["mode"] = "slow" },
		"status":                   func(c *v1.Cell) { c.Status.Phase = "Ready" },
		"status, behind a pointer": func(c *v1.Cell) { c.Status.Plan.Done = true },
		"metadata.name":            func(c *v1.Cell) { c.Name = "other" },
	}
	for name, edit := range edits {
		for with, metadata := range map[string]func(*v1.Cell){
			"nothing in metadata": func(*v1.Cell) {},
			"a label":             func(c *v1.Cell) { c.Labels["new"] = "yes" },
		} {
			t.Run(name+", and "+with, func(t *testing.T) {
				cell, p := fetched(t, finalized())
				before := cell.DeepCopy()
				field, _, _ := strings.Cut(name, ",")
				_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { metadata(c); edit(c) })
				if err == nil || !strings.Contains(err.Error(), "mutate changed "+field) {
					t.Errorf("PatchMetadata: %v", err)
				}
				requireSame(t, cell, before)
			})
		}
	}
	t.Run("control: it may read them", func(t *testing.T) {
		cell, p := fetched(t, finalized())
		_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) {
			c.Labels["image"], c.Labels["mode"], c.Labels["plan"] = c.Spec.Image, c.Spec.Settings["mode"], c.Status.Plan.ID
		})
		mustNot(t, err)
		if l := cell.Labels; l["image"] != "image:1" || l["mode"] != "fast" || l["plan"] != "plan" {
			t.Errorf("labels %v", l)
		}
	})
}

func TestPatchMetadata_AFunctionThatChangedNothingBefore(t *testing.T) {
	for name, edit := range map[string]func(*v1.Cell){
		"spec":          func(c *v1.Cell) { c.Spec.Image = "image:2" },
		"status":        func(c *v1.Cell) { c.Status.Phase = "Ready" },
		"metadata.name": func(c *v1.Cell) { c.Name = "other" },
	} {
		t.Run(name+" is reported", func(t *testing.T) {
			cell, p := fetched(t, finalized())
			before := cell.DeepCopy()
			mutate := later(edit)
			_, err := p.PatchMetadata(t.Context(), mutate)
			mustNot(t, err)
			field, _, _ := strings.Cut(name, ",")
			if _, err := p.PatchMetadata(t.Context(), mutate); err == nil || !strings.Contains(err.Error(), "mutate changed "+field) {
				t.Errorf("PatchMetadata: %v", err)
			}
			requireSame(t, cell, before)
		})
	}
	// What it changes in place is found again as soon as anything that it decides on is another.
	inPlace := func(c *v1.Cell) { c.Spec.Settings["mode"] = "slow" }
	changes := map[string]func(*testing.T, *v1.Cell, *v1status.CellStatusPatcher){
		"a label": func(t *testing.T, _ *v1.Cell, p *v1status.CellStatusPatcher) {
			_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.Labels["new"] = "yes" })
			mustNot(t, err)
		},
		"the value of a label": func(t *testing.T, _ *v1.Cell, p *v1status.CellStatusPatcher) {
			_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.Labels["app"] = "other" })
			mustNot(t, err)
		},
		"a label that becomes an annotation": func(t *testing.T, _ *v1.Cell, p *v1status.CellStatusPatcher) {
			_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.Annotations, c.Labels = c.Labels, nil })
			mustNot(t, err)
		},
		"a finalizer": func(t *testing.T, _ *v1.Cell, p *v1status.CellStatusPatcher) {
			_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.Finalizers = nil })
			mustNot(t, err)
		},
		"an owner": func(t *testing.T, _ *v1.Cell, p *v1status.CellStatusPatcher) {
			_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) {
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u"}}
			})
			mustNot(t, err)
		},
	}
	for name, change := range changes {
		t.Run("in place, after a change of "+name, func(t *testing.T) {
			cell, p := fetched(t, finalized())
			mutate := later(inPlace)
			_, err := p.PatchMetadata(t.Context(), mutate)
			mustNot(t, err)
			change(t, cell, p)
			if _, err := p.PatchMetadata(t.Context(), mutate); err == nil || !strings.Contains(err.Error(), "mutate changed spec") {
				t.Errorf("PatchMetadata: %v", err)
			}
			if cell.Spec.Settings["mode"] != "fast" {
				t.Error("the caller's object was changed")
			}
		})
	}
	t.Run("in place, on another object, or by another function", func(t *testing.T) {
		other := finalized()
		other.Name, other.UID = "cell-1", "uid-1"
		c := newFake(t, finalized(), other)
		statuses := v1status.NewCellStatusClient(c, c)
		for name, mutate := range map[string]func(*v1.Cell){"cell-0": addCleanup, "cell-1": func(c *v1.Cell) { addCleanup(c) }} {
			_, p, err := statuses.Fetch(t.Context(), client.ObjectKey{Namespace: "default", Name: name})
			mustNot(t, err)
			_, err = p.PatchMetadata(t.Context(), mutate)
			mustNot(t, err)
			if _, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { addCleanup(c); inPlace(c) }); err == nil {
				t.Errorf("%s: not reported", name)
			}
		}
	})
	t.Run("in place, after a deletion", func(t *testing.T) {
		c := newFake(t, finalized())
		cell, p, err := v1status.NewCellStatusClient(c, c).Fetch(t.Context(), client.ObjectKeyFromObject(finalized()))
		mustNot(t, err)
		mutate := later(inPlace)
		_, err = p.PatchMetadata(t.Context(), mutate)
		mustNot(t, err)
		mustNot(t, c.Delete(t.Context(), cell.DeepCopy()))
		mustNot(t, p.Refresh(t.Context()))
		if _, err := p.PatchMetadata(t.Context(), mutate); err == nil {
			t.Error("not reported")
		}
	})
	t.Run("in place, after ten minutes", func(t *testing.T) {
		c := newFake(t, finalized())
		clock := &movable{now: time.Unix(1_700_000_000, 0)}
		_, p, err := v1status.NewCellStatusClient(c, c, patcher.WithClock(clock)).Fetch(t.Context(), client.ObjectKeyFromObject(finalized()))
		mustNot(t, err)
		mutate := later(inPlace)
		_, err = p.PatchMetadata(t.Context(), mutate)
		mustNot(t, err)
		clock.now = clock.now.Add(11 * time.Minute)
		if _, err := p.PatchMetadata(t.Context(), mutate); err == nil {
			t.Error("not reported")
		}
	})
	t.Run("control: in place, with nothing changed, it is not found, as documented", func(t *testing.T) {
		cell, p := fetched(t, finalized())
		mutate := later(inPlace)
		for range 2 {
			_, err := p.PatchMetadata(t.Context(), mutate)
			mustNot(t, err)
		}
		if cell.Spec.Settings["mode"] != "slow" {
			t.Error("it is found: the documentation can promise more")
		}
	})
}

// A trusted function receives what the server acknowledged, and not what the caller has not saved.
func TestPatchMetadata_ATrustedFunctionDoesNotSeeUnsavedMetadata(t *testing.T) {
	stored := finalized()
	stored.Annotations = map[string]string{"note": "saved"}
	stored.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "a"}}
	cell, p := fetched(t, stored)
	mutate := func(c *v1.Cell) {
		if c.Labels["app"] != "cell" || c.Annotations["note"] != "saved" || len(c.Finalizers) != 1 || len(c.OwnerReferences) != 1 {
			t.Errorf("mutate received %+v", c.ObjectMeta)
		}
	}
	for range 2 {
		_, err := p.PatchMetadata(t.Context(), mutate)
		mustNot(t, err)
		cell.Labels["app"], cell.Annotations["note"], cell.Finalizers, cell.OwnerReferences = "unsaved", "unsaved", nil, nil
	}
	if cell.Labels["app"] != "unsaved" || cell.Annotations["note"] != "unsaved" || cell.Finalizers != nil || cell.OwnerReferences != nil {
		t.Errorf("control: the unsaved edits are gone: %+v", cell.ObjectMeta)
	}
}

// Owner references are copied for a function that is trusted, flags and all: it must find what the server has.
func TestPatchMetadata_OwnersOfATrustedFunction(t *testing.T) {
	yes, no := true, false
	stored := finalized()
	stored.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "a", Controller: &no, BlockOwnerDeletion: &yes},
		{APIVersion: "v1", Kind: "ConfigMap", Name: "b", UID: "b", Controller: &yes, BlockOwnerDeletion: &no},
		{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c"},
	}
	_, p := fetched(t, stored)
	mutate := func(c *v1.Cell) {
		if !equality.Semantic.DeepEqual(c.OwnerReferences, stored.OwnerReferences) {
			t.Errorf("mutate received %+v", c.OwnerReferences)
		}
	}
	for range 2 {
		if result, err := p.PatchMetadata(t.Context(), mutate); err != nil || result != patcher.ResultUnchanged {
			t.Errorf("PatchMetadata: %q, %v", result, err)
		}
	}
	t.Run("control: another flag is a change", func(t *testing.T) {
		_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { c.OwnerReferences[2].BlockOwnerDeletion = &yes })
		mustNot(t, err)
		if got := p.Object().OwnerReferences[2].BlockOwnerDeletion; got == nil || !*got {
			t.Error("it was not written")
		}
	})
}

// Objects of fake clients may have no UID. What is known of one is not taken to be known of the next.
func TestPatchMetadata_WithoutAUIDNothingIsTrusted(t *testing.T) {
	stored := finalized()
	stored.UID = ""
	_, p := fetched(t, stored)
	mutate := later(func(c *v1.Cell) { c.Spec.Settings["mode"] = "slow" })
	_, err := p.PatchMetadata(t.Context(), mutate)
	mustNot(t, err)
	if _, err := p.PatchMetadata(t.Context(), mutate); err == nil {
		t.Error("not reported")
	}
}

func TestPatchMetadata_EditsOfTheCallersObjectInsideMutateStayPending(t *testing.T) {
	cell, p := fetched(t, finalized())
	for _, phase := range []string{"First", "Second"} {
		_, err := p.PatchMetadata(t.Context(), func(c *v1.Cell) { addCleanup(c); cell.Status.Phase = phase })
		mustNot(t, err)
		if cell.Status.Phase != phase {
			t.Errorf("phase %q, want %q", cell.Status.Phase, phase)
		}
		p.Discard()
	}
}

// Writes of the object that a mutate is deciding on would move its version under the write that follows.
func TestInsideMutate_WritesOfTheObjectAreRefused(t *testing.T) {
	key := client.ObjectKeyFromObject(finalized())
	outer := map[string]func(t *testing.T, statuses *v1status.CellStatusClient, inside func(c, held *v1.Cell)){
		"RetryWith": func(t *testing.T, statuses *v1status.CellStatusClient, inside func(c, held *v1.Cell)) {
			_, _, err := statuses.RetryWith(t.Context(), key, func(c *v1.Cell, _ *v1status.CellStatusPatcher) error { inside(c, c); return nil })
			mustNot(t, err)
		},
		"Retry of the StatusClient": func(t *testing.T, statuses *v1status.CellStatusClient, inside func(c, held *v1.Cell)) {
			_, err := statuses.Retry(t.Context(), key, func(c *v1.Cell) error { inside(c, c); return nil })
			mustNot(t, err)
		},
		"Retry of a patcher": func(t *testing.T, statuses *v1status.CellStatusClient, inside func(c, held *v1.Cell)) {
			cell, p, err := statuses.Fetch(t.Context(), key)
			mustNot(t, err)
			_, err = p.Retry(t.Context(), func(c *v1.Cell) error { inside(c, cell); return nil })
			mustNot(t, err)
		},
		"PatchMetadata": func(t *testing.T, statuses *v1status.CellStatusClient, inside func(c, held *v1.Cell)) {
			cell, p, err := statuses.Fetch(t.Context(), key)
			mustNot(t, err)
			_, _ = p.PatchMetadata(t.Context(), func(c *v1.Cell) { inside(c, cell) })
		},
		"PatchSpec": func(t *testing.T, statuses *v1status.CellStatusClient, inside func(c, held *v1.Cell)) {
			cell, p, err := statuses.Fetch(t.Context(), key)
			mustNot(t, err)
			_, _ = p.PatchSpec(t.Context(), func(c *v1.Cell) { inside(c, cell) })
		},
	}
	through := func(t *testing.T, statuses *v1status.CellStatusClient, obj *v1.Cell) map[string]error {
		q, err := statuses.For(obj)
		mustNot(t, err)
		_, object := statuses.Flush(t.Context(), obj)
		_, flush := q.Flush(t.Context())
		_, retry := q.Retry(t.Context(), func(*v1.Cell) error { return nil })
		_, metadata := q.PatchMetadata(t.Context(), addCleanup)
		_, spec := q.PatchSpec(t.Context(), func(*v1.Cell) {})
		return map[string]error{
			"Flush of the object": object, "Flush": flush, "Retry": retry, "PatchMetadata": metadata, "PatchSpec": spec,
			"Refresh": q.Refresh(t.Context()),
		}
	}
	for name, run := range outer {
		t.Run(name, func(t *testing.T) {
			c := newCounted(newFake(t, finalized()))
			statuses := v1status.NewCellStatusClient(c, c)
			second := v1status.NewCellStatusClient(newFake(t, finalized()), c)
			run(t, statuses, func(work, held *v1.Cell) {
				sent := c.patches
				for _, obj := range []*v1.Cell{work, held} {
					obj.Status.Phase = "Inside"
					for _, sc := range []*v1status.CellStatusClient{statuses, second} {
						for operation, err := range through(t, sc, obj) {
							if !errors.Is(err, patcher.ErrInsideMutate) {
								t.Errorf("%s: %v", operation, err)
							}
						}
					}
				}
				held.Status.Phase = ""
				work.Status.Phase = ""
				if c.patches != sent {
					t.Errorf("%d requests were sent", c.patches-sent)
				}
			})
		})
	}
	t.Run("control: another object, and the same one afterwards, may be written", func(t *testing.T) {
		other := newCell(1)
		c := newFake(t, finalized(), other)
		statuses := v1status.NewCellStatusClient(c, c)
		var inside *v1.Cell
		cell, _, err := statuses.RetryWith(t.Context(), key, func(c *v1.Cell, _ *v1status.CellStatusPatcher) error {
			inside = c
			child := &v1.Cell{}
			mustNot(t, statuses.Get(t.Context(), client.ObjectKeyFromObject(other), child))
			child.Status.Phase = "Child"
			_, err := statuses.Flush(t.Context(), child)
			return err
		})
		mustNot(t, err)
		for _, obj := range []*v1.Cell{cell, inside} {
			_, err := statuses.Flush(t.Context(), obj)
			mustNot(t, err)
		}
		// Also while another object is decided on.
		_, err = statuses.Retry(t.Context(), client.ObjectKeyFromObject(other), func(*v1.Cell) error {
			_, err := statuses.Flush(t.Context(), inside)
			return err
		})
		mustNot(t, err)
	})
	t.Run("control: a mutate that panics leaves nothing refused", func(t *testing.T) {
		c := newFake(t, finalized())
		statuses := v1status.NewCellStatusClient(c, c)
		cell, p, err := statuses.Fetch(t.Context(), key)
		mustNot(t, err)
		func() {
			defer func() { _ = recover() }()
			_, _ = p.Retry(t.Context(), func(*v1.Cell) error { panic("boom") })
		}()
		cell.Status.Phase = "Later"
		_, err = statuses.Flush(t.Context(), cell)
		mustNot(t, err)
	})
}

// movable is a clock that a test moves.
type movable struct{ now time.Time }

func (m *movable) Now() time.Time { return m.now }

func (m *movable) After(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- m.now
	return c
}

func requireSame(t *testing.T, got, want *v1.Cell) {
	t.Helper()
	if !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("the caller's object is %+v, want %+v", got, want)
	}
}
