package patcher_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// cacheOwned is a client whose Get hands out the cache's own object, as UnsafeDisableDeepCopy does.
func cacheOwned(b *bed) (client.Client, *v1.Cell) {
	cached := b.live()
	return interceptor.NewClient(b.wire, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			*obj.(*v1.Cell) = *cached
			return nil
		},
	}), cached
}

func TestS01_FetchNeverWritesIntoTheCache(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) {
		s.Plan = &v1.Plan{ID: "p-1", Tasks: []v1.Task{{Name: "one"}}}
		s.Writers = []string{"w"}
		s.Shares = map[string]v1.Share{"s": {Weight: 1}}
	})
	edit := func(s *v1.CellStatus) {
		s.Plan.Tasks[0].Name += "-edited"
		s.Writers[0] += "-edited"
		s.Shares["new"] = v1.Share{Weight: 2}
	}
	t.Run("rule", func(t *testing.T) {
		c, cached := cacheOwned(b)
		before := cached.DeepCopy()
		cell, p, err := v1status.NewCellStatusClient(c, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		edit(&cell.Status)
		b.flush(p, patcher.ResultPatched)
		if !reflect.DeepEqual(before, cached) {
			t.Errorf("the cache's object changed:\n%+v\n%+v", before.Status, cached.Status)
		}
	})
	t.Run("control: a plain Get lets the edit through", func(t *testing.T) {
		c, cached := cacheOwned(b)
		before, cell := cached.DeepCopy(), &v1.Cell{}
		b.must(c.Get(b.ctx, b.key, cell))
		edit(&cell.Status)
		if reflect.DeepEqual(before, cached) {
			t.Error("the cache's object did not change, so the test above proves nothing")
		}
	})
}

func TestS02_OnlyStatusIsSent(t *testing.T) {
	edit := func(cell *v1.Cell) {
		cell.Status.Phase = "Ready"
		cell.Spec.Image = "leak:1"
		cell.Labels["leak"] = "yes"
		cell.Finalizers = append(cell.Finalizers, "leak.example.com/f")
	}
	t.Run("rule", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		version := cell.ResourceVersion
		edit(cell)
		patch := patchOf(t, b.wire.during(func() { b.flush(p, patcher.ResultPatched) }))
		want := map[string]any{
			"metadata": map[string]any{"resourceVersion": version},
			"status":   map[string]any{"phase": "Ready"},
		}
		if !reflect.DeepEqual(patch, want) {
			t.Errorf("sent %v, want %v", patch, want)
		}
	})
	t.Run("control: the plain idiom sends the edits", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		base := cell.DeepCopy()
		edit(cell)
		patch := patchOf(t, b.wire.during(func() { b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base))) }))
		if _, leaks := patch["spec"]; !leaks {
			t.Errorf("sent %v: no spec in it, so the test above proves nothing", patch)
		}
	})
}

func TestS03_BoundToTheCallersPointer(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "p-1", Tasks: []v1.Task{{Name: "one"}}} })
	cell, p := b.fetch()
	if p.Object() != cell {
		t.Fatal("Object is not the pointer that Fetch returned")
	}
	// Planner and executor hold pointers into the status, and go on using them after a flush.
	task := &cell.Status.Plan.Tasks[0]
	for _, note := range []string{"first", "second"} {
		task.Note = note
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Plan.Tasks[0].Note; got != note {
			t.Errorf("the server has note %q, want %q", got, note)
		}
	}
	t.Run("control: a patcher of a copy does not see the edit", func(t *testing.T) {
		q, err := b.statuses().For(cell.DeepCopy())
		b.must(err)
		task.Note = "third"
		b.flush(q, patcher.ResultUnchanged)
	})
}

func TestS04_ForNeedsAnObjectThatWasRead(t *testing.T) {
	b := newBed(t)
	_, err := b.statuses().For(&v1.Cell{})
	if err == nil || !strings.Contains(err.Error(), "resourceVersion") {
		t.Errorf("For of an object that was never read: %v", err)
	}
	for name, construct := range map[string]func(){
		"the client":    func() { v1status.NewCellStatusClient(nil, b.wire) },
		"the live read": func() { v1status.NewCellStatusClient(b.wire, nil) },
		"a nil Cell":    func() { b.statuses().For(nil) },
	} {
		t.Run("panics without "+name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, name) {
					t.Errorf("panicked with %q, which does not say %q", text, name)
				}
			}()
			construct()
		})
	}
	t.Run("an empty UID only switches the check off", func(t *testing.T) {
		cell := b.live()
		cell.UID = ""
		p, err := b.statuses().For(cell)
		b.must(err)
		cell.Status.Phase = "Ready"
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("control: controller-runtime fails late", func(t *testing.T) {
		cell := &v1.Cell{}
		patch := lockedMerge(cell)
		if _, err := patch.Data(cell); err == nil {
			t.Error("Data of an object without resourceVersion is no error any more: For need not check it")
		}
	})
}

func TestS05_TheBaseIsWhatTheServerAcknowledged(t *testing.T) {
	t.Run("rule: what failed to land is in the next diff", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Phase = "Planned"
		canceled, cancel := context.WithCancel(b.ctx)
		cancel()
		if _, err := p.Flush(canceled); err == nil {
			t.Fatal("Flush under a canceled context succeeded")
		}
		cell.Status.Tier = "gold"
		b.flush(p, patcher.ResultPatched)
		if live := b.live().Status; live.Phase != "Planned" || live.Tier != "gold" {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("rule: Observed is a copy of the base", func(t *testing.T) {
		b := newBed(t, func(s *v1.CellStatus) { s.Writers = []string{"one"} })
		cell, p := b.fetch()
		cell.Status.Writers[0] = "two"
		p.Observed().Writers[0] = "three"
		if got := p.Observed().Writers; !slices.Equal(got, []string{"one"}) {
			t.Errorf("Observed has %v", got)
		}
	})
	t.Run("control: a base recaptured from the dirty object drops the edit for ever", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		cell.Status.Phase = "Planned" // its patch failed, and the error was swallowed
		base := cell.DeepCopy()
		cell.Status.Tier = "gold"
		b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		if got := b.live().Status.Phase; got != "" {
			t.Errorf("phase %q landed, so the test above proves nothing", got)
		}
	})
}

func TestS01_BaseSharesNothingWithTheCaller(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) { s.Shares = map[string]v1.Share{"s": {Weight: 1}} })
	cell, err := b.live(), error(nil)
	p, err := b.statuses().For(cell)
	b.must(err)
	maps.Copy(cell.Status.Shares, map[string]v1.Share{"s": {Weight: 7}})
	cell.Labels["tier"] = "edited"
	if !p.Changed() {
		t.Error("an edit in place is in the base as well")
	}
	if _, err := p.Retry(b.ctx, func(*v1.Cell) error { return nil }); err == nil {
		t.Error("Retry did not see the label that was edited in place")
	}
}
