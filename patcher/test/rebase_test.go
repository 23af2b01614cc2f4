package patcher_test

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

func TestS15_RebaseOnConflict(t *testing.T) {
	foreignFinalizer := func(c *v1.Cell) { c.Finalizers = append(c.Finalizers, "other.example.com/f") }
	t.Run("rule: another controller's finalizer lies outside the decision", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch(patcher.RebaseOnConflict())
		b.mutate(foreignFinalizer)
		cell.Status.Phase = "Ready"
		sent := b.wire.during(func() { b.flush(p, patcher.ResultRebased) })
		if got := fmt.Sprint(sent); got != "[patch cells/status get cells patch cells/status]" {
			t.Errorf("sent %s", got)
		}
		// The caller's next Update must not remove the finalizer.
		cell.Spec.Image = "image:2"
		b.must(b.wire.Update(b.ctx, cell))
		if !slices.Contains(b.live().Finalizers, "other.example.com/f") {
			t.Error("the other controller's finalizer is gone")
		}
	})
	for name, between := range map[string]func(*v1.Cell){
		"spec":        func(c *v1.Cell) { c.Spec.Image = "image:2" },
		"labels":      func(c *v1.Cell) { c.Labels["tier"] = "two" },
		"annotations": func(c *v1.Cell) { c.Annotations["note"] = "second" },
	} {
		t.Run("rule: the conflict stands when it changed: "+name, func(t *testing.T) {
			b := newBed(t)
			cell, p := b.fetch(patcher.RebaseOnConflict())
			b.mutate(between)
			requireConflict(b, cell, p)
		})
	}
	t.Run("rule: the conflict stands when it changed: status", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch(patcher.RebaseOnConflict())
		b.forge(func(s *v1.CellStatus) { s.Counter = 7 })
		requireConflict(b, cell, p)
	})
	t.Run("rule: the conflict stands when it changed: deletionTimestamp", func(t *testing.T) {
		b := newBed(t)
		b.mutate(foreignFinalizer)
		cell, p := b.fetch(patcher.RebaseOnConflict())
		b.must(b.wire.Delete(b.ctx, b.live()))
		requireConflict(b, cell, p)
	})
	t.Run("rule: the conflict stands when it changed: UID", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch(patcher.RebaseOnConflict())
		again := &v1.Cell{ObjectMeta: *cell.ObjectMeta.DeepCopy(), Spec: *cell.Spec.DeepCopy()}
		again.ResourceVersion, again.UID = "", ""
		b.must(b.wire.Delete(b.ctx, b.live()))
		b.must(b.wire.Create(b.ctx, again))
		requireConflict(b, cell, p)
	})
	t.Run("rule: with unsaved metadata edits in hand the conflict stands", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch(patcher.RebaseOnConflict())
		b.mutate(foreignFinalizer)
		cell.Labels["unsaved"] = "yes"
		requireConflict(b, cell, p)
	})
	t.Run("control: without the option the same conflict is an error", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		b.mutate(foreignFinalizer)
		requireConflict(b, cell, p)
	})
	t.Run("control: only the version taken over, and the next Update removes the finalizer", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		b.mutate(foreignFinalizer)
		cell.ResourceVersion = b.live().ResourceVersion
		b.must(b.wire.Update(b.ctx, cell))
		if len(b.live().Finalizers) != 0 {
			t.Error("the finalizer survived: the live metadata need not be taken over")
		}
	})
}

// requireConflict flushes an edit that must not land.
func requireConflict(b *bed, cell *v1.Cell, p *v1status.CellStatusPatcher) {
	b.Helper()
	cell.Status.Phase = "Mine"
	if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
		b.Errorf("Flush: %v, want a conflict", err)
	}
	if got := b.live().Status.Phase; got == "Mine" {
		b.Error("the write landed")
	}
}
