package patcher_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

const finalizer = "statuspatcher.dev/cleanup"

func addFinalizer(c *v1.Cell) { controllerutil.AddFinalizer(c, finalizer) }

func (b *bed) patchMetadata(p *v1status.CellStatusPatcher, mutate func(*v1.Cell)) {
	b.Helper()
	if result, err := p.PatchMetadata(b.ctx, mutate); err != nil || result != patcher.ResultPatched {
		b.Fatalf("PatchMetadata: %q, %v", result, err)
	}
}

func TestS30_MetadataMovesTheBaseAlong(t *testing.T) {
	setPhase := func(c *v1.Cell) { c.Status.Phase = "Ready" }
	t.Run("rule: finalizer, then status", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		b.patchMetadata(p, addFinalizer)
		setPhase(cell)
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("rule: status, then finalizer, then status", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		setPhase(cell)
		b.flush(p, patcher.ResultPatched)
		b.patchMetadata(p, addFinalizer)
		cell.Status.Phase = "Later"
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("rule: status that is pending stays pending", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		setPhase(cell)
		b.patchMetadata(p, addFinalizer)
		if b.live().Status.Phase != "" || cell.Status.Phase != "Ready" || !slices.Contains(cell.Finalizers, finalizer) {
			t.Fatalf("after PatchMetadata: %+v", cell)
		}
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("control: a finalizer update between capture and flush makes the status write conflict", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		base := cell.DeepCopy()
		addFinalizer(cell)
		b.must(b.wire.Update(b.ctx, cell))
		setPhase(cell)
		if err := b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)); !apierrors.IsConflict(err) {
			t.Errorf("%v: the test above proves nothing", err)
		}
	})
}

func TestS30_OneLockedPatchOfMetadataOnly(t *testing.T) {
	b := newBed(t)
	cell, p := b.fetch()
	version := cell.ResourceVersion
	cell.Status.Phase, cell.Spec.Image = "Pending", "unsaved:1"
	sent := b.wire.during(func() { b.patchMetadata(p, addFinalizer) })
	want := fmt.Sprintf(`{"metadata":{"finalizers":[%q],"resourceVersion":%q}}`, finalizer, version)
	if len(sent) != 1 || sent[0].String() != "patch cells" || string(sent[0].Body) != want {
		t.Errorf("sent %v %s, want %s", sent, sent[0].Body, want)
	}
	if again := b.wire.during(func() {
		if result, err := p.PatchMetadata(b.ctx, addFinalizer); err != nil || result != patcher.ResultUnchanged {
			t.Errorf("PatchMetadata that changes nothing: %q, %v", result, err)
		}
	}); len(again) != 0 {
		t.Errorf("sent %v", again)
	}
}

func TestS30_UnsavedMetadataStaysUnsaved(t *testing.T) {
	b := newBed(t)
	b.mutate(func(c *v1.Cell) {
		c.Finalizers = []string{"a.example.com/f", "b.example.com/f"}
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u-1"}}
	})
	cell, p := b.fetch()
	cell.Labels["unsaved"] = "yes"
	delete(cell.Annotations, "note")
	controllerutil.RemoveFinalizer(cell, "a.example.com/f")
	cell.OwnerReferences = append(cell.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "p", UID: "u-2"})
	b.patchMetadata(p, func(c *v1.Cell) {
		addFinalizer(c)
		c.Labels["saved"] = "yes"
		c.Annotations["saved"] = "yes"
	})
	live := b.live()
	if live.Labels["unsaved"] != "" || live.Annotations["note"] == "" || len(live.Finalizers) != 3 || len(live.OwnerReferences) != 1 {
		t.Errorf("an unsaved edit was sent: %+v", live.ObjectMeta)
	}
	if cell.Labels["unsaved"] != "yes" || cell.Labels["saved"] != "yes" || cell.Annotations["note"] != "" || cell.Annotations["saved"] != "yes" {
		t.Errorf("labels %v, annotations %v", cell.Labels, cell.Annotations)
	}
	if want := []string{"b.example.com/f", finalizer}; !slices.Equal(cell.Finalizers, want) {
		t.Errorf("finalizers %v, want %v", cell.Finalizers, want)
	}
	if got := []types.UID{cell.OwnerReferences[0].UID, cell.OwnerReferences[1].UID}; got[0] != "u-1" || got[1] != "u-2" {
		t.Errorf("owners %v", got)
	}
	// What is unsaved is still an edit, so that the caller's own Update saves it.
	b.must(b.wire.Update(b.ctx, cell))
	if got := b.live().Labels["unsaved"]; got != "yes" {
		t.Error("the unsaved label is lost")
	}
}

func TestS30_MutateMayChangeMetadataOnly(t *testing.T) {
	for name, mutate := range map[string]func(*v1.Cell){
		"spec":               func(c *v1.Cell) { c.Spec.Image = "image:2" },
		"spec in place":      func(c *v1.Cell) { c.Spec.Settings["new"] = "yes" },
		"status":             func(c *v1.Cell) { c.Status.Phase = "Ready" },
		"metadata.name":      func(c *v1.Cell) { c.Name = "b" },
		"metadata.namespace": func(c *v1.Cell) { c.Namespace = "" },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			_, p := b.fetch()
			sent := b.wire.during(func() {
				_, err := p.PatchMetadata(b.ctx, func(c *v1.Cell) { addFinalizer(c); mutate(c) })
				if err == nil || !strings.Contains(err.Error(), "mutate changed "+strings.TrimSuffix(name, " in place")) {
					t.Errorf("PatchMetadata: %v", err)
				}
			})
			if len(sent) != 0 {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

func TestS30_ConflictsAndStaleBases(t *testing.T) {
	b := newBed(t)
	_, p := b.fetch()
	b.forge(phase("Foreign"))
	var conflict *patcher.ConflictError
	if _, err := p.PatchMetadata(b.ctx, addFinalizer); !errors.As(err, &conflict) || !apierrors.IsConflict(err) {
		t.Errorf("PatchMetadata on a stale base: %v", err)
	}
	b.must(p.Refresh(b.ctx))
	cell := p.Object()
	cell.Labels["direct"] = "yes"
	b.must(b.wire.Update(b.ctx, cell))
	if _, err := p.PatchMetadata(b.ctx, addFinalizer); !errors.Is(err, patcher.ErrStaleBase) {
		t.Errorf("PatchMetadata behind an Update: %v", err)
	}
}

func TestS31_SeveralPatchersAtOnce(t *testing.T) {
	b := newBed(t)
	gauge := &v1.Gauge{ObjectMeta: metav1.ObjectMeta{Name: b.key.Namespace}}
	b.must(b.wire.Create(b.ctx, gauge))
	cell, p := b.fetch()
	gauge, q, err := v1status.NewGaugeStatusClient(b.wire, b.wire).Fetch(b.ctx, client.ObjectKeyFromObject(gauge))
	b.must(err)
	gauge.Status.Phase, cell.Status.Phase = "Ready", "Ready"
	sent := b.wire.during(func() {
		if _, err := q.Flush(b.ctx); err != nil {
			t.Error(err)
		}
		b.flush(p, patcher.ResultPatched)
	})
	if got := fmt.Sprint(sent); got != "[patch gauges/status patch cells/status]" {
		t.Errorf("sent %s, want the caller's order", got)
	}
	t.Run("control: the other order is the other order", func(t *testing.T) {
		gauge.Status.Phase, cell.Status.Phase = "Later", "Later"
		sent := b.wire.during(func() {
			b.flush(p, patcher.ResultPatched)
			if _, err := q.Flush(b.ctx); err != nil {
				t.Error(err)
			}
		})
		if got := fmt.Sprint(sent); got != "[patch cells/status patch gauges/status]" {
			t.Errorf("sent %s", got)
		}
	})
}

func TestS32_ARecreatedObjectConflicts(t *testing.T) {
	recreated := func(t *testing.T) (*bed, *v1.Cell, *v1status.CellStatusPatcher) {
		b := newBed(t)
		cell, p := b.fetch()
		b.must(b.wire.Delete(b.ctx, b.live()))
		b.must(b.wire.Create(b.ctx, &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: b.key.Name}}))
		return b, cell, p
	}
	t.Run("rule", func(t *testing.T) {
		b, cell, p := recreated(t)
		cell.Status.Phase = "Ready"
		if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
			t.Errorf("Flush: %v", err)
		}
	})
	t.Run("control: a UID in the patch guards nothing", func(t *testing.T) {
		b, cell, _ := recreated(t)
		body := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"phase":"Stamped"}}`, cell.UID)
		err := b.wire.Status().Patch(b.ctx, cell.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(body)))
		if landed := b.live().Status.Phase == "Stamped"; err != nil || !landed {
			t.Errorf("%v, landed %v: the UID is a guard, and the rule says otherwise", err, landed)
		}
	})
}

func TestS33_ANoOpDoesNotMoveTheVersion(t *testing.T) {
	b := newBed(t, phase("Ready"))
	version := b.live().ResourceVersion
	b.must(b.wire.Status().Patch(b.ctx, b.live(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Ready"}}`))))
	b.must(b.wire.Status().Update(b.ctx, b.live()))
	if got := b.live().ResourceVersion; got != version {
		t.Errorf("resourceVersion went from %s to %s", version, got)
	}
	b.forge(phase("Other"))
	if b.live().ResourceVersion == version {
		t.Error("control: a real write does not move it either")
	}
}
