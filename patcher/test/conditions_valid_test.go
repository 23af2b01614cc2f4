package patcher_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// S55: a condition that the API server would refuse does not block what else there is to write.
func TestS55_AnInvalidConditionIsLeftOut(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for _, row := range []struct {
		name      string
		condition metav1.Condition
		valid     bool
	}{
		{"an empty reason", metav1.Condition{Type: "Ready", Status: "True"}, false},
		{"a reason with a blank", metav1.Condition{Type: "Ready", Status: "True", Reason: "Not found"}, false},
		{"a reason that starts with a digit", metav1.Condition{Type: "Ready", Status: "True", Reason: "2ndTry"}, false},
		{"a reason that ends with a colon", metav1.Condition{Type: "Ready", Status: "True", Reason: "Failed:"}, false},
		{"a long reason", metav1.Condition{Type: "Ready", Status: "True", Reason: long}, false},
		{"no status", metav1.Condition{Type: "Ready", Reason: "Done"}, false},
		{"another status", metav1.Condition{Type: "Ready", Status: "Yes", Reason: "Done"}, false},
		{"no type", metav1.Condition{Status: "True", Reason: "Done"}, false},
		{"a type with a blank", metav1.Condition{Type: "Is Ready", Status: "True", Reason: "Done"}, false},
		{"a type with two slashes", metav1.Condition{Type: "a/b/Ready", Status: "True", Reason: "Done"}, false},
		{"a long type", metav1.Condition{Type: long[:317], Status: "True", Reason: "Done"}, false},
		{"every letter that is allowed", metav1.Condition{Type: "example.com/Is-Ready_2.x", Status: "Unknown", Reason: "A_b,c:D9"}, true},
		{"the longest", metav1.Condition{Type: long[:316], Status: "True", Reason: long[:1024]}, true},
	} {
		t.Run("rule: "+row.name, func(t *testing.T) {
			b := newBed(t)
			cell, p := b.fetch()
			cell.Status.Plan = &v1.Plan{ID: "external-id"}
			if changed := p.SetCondition(row.condition); changed != row.valid {
				t.Errorf("SetCondition: %v", changed)
			}
			_, err := p.Flush(b.ctx)
			if row.valid != (err == nil) || err != nil && !errors.Is(err, patcher.ErrInvalidCondition) {
				t.Errorf("Flush: %v", err)
			}
			live := b.live().Status
			if live.Plan == nil || live.Plan.ID != "external-id" || (len(live.Conditions) == 1) != row.valid {
				t.Errorf("the server has %+v", live)
			}
			b.flush(p, patcher.ResultUnchanged) // it is reported once
		})
		t.Run("control: the API server agrees, "+row.name, func(t *testing.T) {
			b := newBed(t)
			cell := b.live()
			row.condition.LastTransitionTime = metav1.Now()
			cell.Status.Conditions = []metav1.Condition{row.condition}
			err := b.wire.Status().Update(b.ctx, cell)
			if row.valid != (err == nil) || err != nil && !apierrors.IsInvalid(err) {
				t.Errorf("Update: %v", err)
			}
		})
	}
	t.Run("rule: in Retry", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		_, err := p.Retry(b.ctx, func(c *v1.Cell) error {
			c.Status.Phase = "Mine"
			p.SetCondition(metav1.Condition{Type: "Ready", Status: "True"})
			return nil
		})
		if live := b.live().Status; !errors.Is(err, patcher.ErrInvalidCondition) || live.Phase != "Mine" {
			t.Errorf("Retry: %v, phase %q", err, live.Phase)
		}
	})
}

// S42: a child's condition carries the generation of the parent whose spec it reports on.
func TestS42_TheGenerationOfAnotherObject(t *testing.T) {
	b := newBed(t)
	cell, p := b.fetch()
	p.StampGeneration(7)
	p.SetCondition(ready("Done"))
	p.SetObservedGeneration()
	b.flush(p, patcher.ResultPatched)
	if cell.Status.ObservedGeneration != 7 || b.live().Status.Conditions[0].ObservedGeneration != 7 {
		t.Errorf("stamped %+v", cell.Status)
	}
	p.StampGeneration(0)
	p.SetObservedGeneration()
	if cell.Status.ObservedGeneration != cell.Generation {
		t.Errorf("control: stamped %d", cell.Status.ObservedGeneration)
	}
}

// S14: with MirrorTransitionTimes, SetCondition takes over what the other object's condition says.
func TestS14_SetConditionMirrors(t *testing.T) {
	b := newBed(t, readySince(longAgo))
	_, p := b.fetch(patcher.MirrorTransitionTimes())
	mirrored := ready("Done")
	mirrored.LastTransitionTime, mirrored.ObservedGeneration = metav1.NewTime(longAgo.Add(time.Hour)), 12
	if !p.SetCondition(mirrored) {
		t.Error("nothing changed")
	}
	b.flush(p, patcher.ResultPatched)
	if got := b.live().Status.Conditions[0]; !got.LastTransitionTime.Equal(&mirrored.LastTransitionTime) || got.ObservedGeneration != 12 {
		t.Errorf("the server has %+v", got)
	}
	if p.SetCondition(mirrored) {
		t.Error("the same condition is a change")
	}
	t.Run("control: without the option the time and the generation are the patcher's", func(t *testing.T) {
		_, p := b.fetch()
		mirrored.LastTransitionTime, mirrored.ObservedGeneration = metav1.NewTime(longAgo.Add(2*time.Hour)), 13
		p.SetCondition(mirrored)
		if got := p.Condition("Ready"); got.ObservedGeneration == 13 || got.LastTransitionTime.Equal(&mirrored.LastTransitionTime) {
			t.Errorf("it is %+v", got)
		}
	})
}

// S09, S40: a write by which the server stored nothing is not reported as one.
func TestS09_AWriteThatStoredNothing(t *testing.T) {
	t.Run("rule: a field that goes back to its default", func(t *testing.T) {
		b := newBed(t, phase("Ready"))
		cell, p := b.fetch()
		p.OnFlushed(func(before, after *v1.CellStatus) { t.Errorf("OnFlushed was told of %+v, %+v", before, after) })
		cell.Status.Tier = ""
		b.flush(p, patcher.ResultUnchanged)
		if cell.Status.Tier != "standard" || p.Changed() {
			t.Errorf("tier %q, changed %v", cell.Status.Tier, p.Changed())
		}
	})
	t.Run("rule: a dry run", func(t *testing.T) {
		b := newBed(t)
		dry := client.NewDryRunClient(b.wire)
		cell, p, err := v1status.NewCellStatusClient(dry, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		p.OnFlushed(func(before, after *v1.CellStatus) { t.Errorf("OnFlushed was told of %+v, %+v", before, after) })
		cell.Status.Phase = "Tried"
		b.flush(p, patcher.ResultUnchanged)
		if cell.Status.Phase != "Tried" || !p.Changed() || b.live().Status.Phase != "" {
			t.Errorf("phase %q, changed %v", cell.Status.Phase, p.Changed())
		}
	})
	t.Run("control: a real write is reported", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		told := 0
		p.OnFlushed(func(_, _ *v1.CellStatus) { told++ })
		cell.Status.Phase = "Ready"
		b.flush(p, patcher.ResultPatched)
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	})
}

// S30: a pending edit of an owner reference that is there already.
func TestS30_AnOwnerReferenceThatIsEdited(t *testing.T) {
	yes, no := true, false
	b := newBed(t)
	b.mutate(func(c *v1.Cell) {
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u-1", Controller: &yes}}
	})
	cell, p := b.fetch()
	*cell.OwnerReferences[0].Controller = false
	cell.OwnerReferences[0].BlockOwnerDeletion = &no
	b.patchMetadata(p, addFinalizer)
	if got := cell.OwnerReferences[0]; *got.Controller || got.BlockOwnerDeletion == nil {
		t.Errorf("the edit is lost: %+v", got)
	}
	if got := b.live().OwnerReferences[0]; !*got.Controller || got.BlockOwnerDeletion != nil {
		t.Errorf("the edit was sent: %+v", got)
	}
	b.must(b.wire.Update(b.ctx, cell))
	if *b.live().OwnerReferences[0].Controller {
		t.Error("control: the caller's own Update did not save it")
	}
}

// S30: mutate cannot corrupt the caller's object, nor what it has pending.
func TestS30_MutateThatFails(t *testing.T) {
	b := newBed(t, readySince(longAgo))
	cell, p := b.fetch()
	before := cell.DeepCopy()
	for _, pending := range []bool{false, true} {
		if pending {
			cell.Status.Phase, before.Status.Phase = "Pending", "Pending"
		}
		_, err := p.PatchMetadata(b.ctx, func(c *v1.Cell) {
			addFinalizer(c)
			c.Labels["tier"] = "edited"
			c.Status.Conditions[0].Reason = "InPlace"
		})
		if err == nil || !strings.Contains(err.Error(), "mutate changed status") {
			t.Errorf("PatchMetadata: %v", err)
		}
		requireJSON(t, cell.Status, before.Status)
		if cell.Labels["tier"] != "one" || len(cell.Finalizers) != 0 {
			t.Errorf("the object is %+v", cell)
		}
	}
	t.Run("control: what mutate may change lands", func(t *testing.T) {
		b.patchMetadata(p, func(c *v1.Cell) { c.Labels["tier"] = "two" })
		if b.live().Labels["tier"] != "two" {
			t.Error("it does not")
		}
	})
}
