package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

func TestS06_NothingChangedSendsNothing(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) {
		s.Phase = "Ready"
		s.LastSync = &metav1.Time{Time: time.Unix(1700000000, 0)}
	})
	t.Run("rule", func(t *testing.T) {
		_, p := b.fetch()
		sent := b.wire.during(func() { b.flush(p, patcher.ResultUnchanged) })
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("rule: what is equal as JSON stays as the caller has it", func(t *testing.T) {
		cell, p := b.fetch()
		cell.Status.LastSync = &metav1.Time{Time: time.Unix(1700000000, 999).UTC()}
		cell.Status.Writers = []string{}
		want := cell.Status.DeepCopy()
		sent := b.wire.during(func() { b.flush(p, patcher.ResultUnchanged) })
		if len(sent) != 0 || !reflect.DeepEqual(&cell.Status, want) {
			t.Errorf("sent %v, status %+v, want %+v", sent, cell.Status, want)
		}
	})
	t.Run("rule: a pointer into the status outlives a Flush that finds nothing to send", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Plan = &v1.Plan{ID: "p-1", Tasks: []v1.Task{{Name: "one"}}}
		cell.Status.LastSync = &metav1.Time{Time: time.Unix(1700000000, 0)}
		b.flush(p, patcher.ResultPatched)
		plan := cell.Status.Plan
		cell.Status.LastSync = &metav1.Time{Time: time.Unix(1700000000, 5)} // the same second
		b.flush(p, patcher.ResultUnchanged)
		plan.Done, plan.Tasks[0].Note = true, "edited"
		b.flush(p, patcher.ResultPatched)
		if live := b.live().Status.Plan; !live.Done || live.Tasks[0].Note != "edited" {
			t.Errorf("the server has %+v: the edit is lost", live)
		}
	})
	t.Run("control: the locked idiom sends a request, and can conflict", func(t *testing.T) {
		cell := b.live()
		base := cell.DeepCopy()
		b.mutate(func(c *v1.Cell) { c.Labels["moved"] = "yes" })
		var err error
		sent := b.wire.during(func() { err = b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)) })
		if len(sent) != 1 || !apierrors.IsConflict(err) {
			t.Errorf("sent %v, %v: the test above proves nothing", sent, err)
		}
	})
}

func TestS07_ChangedIsWhatFlushWouldSend(t *testing.T) {
	seconds := metav1.NewTime(time.Unix(1700000000, 0))
	for _, row := range []struct {
		name    string
		edit    func(*v1.CellStatus)
		changed bool
	}{
		{"nothing", func(*v1.CellStatus) {}, false},
		{"a value", func(s *v1.CellStatus) { s.Phase = "Failed" }, true},
		{"the same value", func(s *v1.CellStatus) { s.Phase = "Ready" }, false},
		{"a time's nanoseconds", func(s *v1.CellStatus) { s.LastSync = &metav1.Time{Time: seconds.Add(5)} }, false},
		{"a time's zone", func(s *v1.CellStatus) { s.LastSync = &metav1.Time{Time: seconds.UTC()} }, false},
		{"a time's second", func(s *v1.CellStatus) { s.LastSync = &metav1.Time{Time: seconds.Add(time.Second)} }, true},
		{"nil to empty, omitted", func(s *v1.CellStatus) { s.Writers = []string{} }, false},
		{"an int64 beyond a float's digits", func(s *v1.CellStatus) { s.Counter = 1<<53 + 1 }, true},
		{"one deleted", func(s *v1.CellStatus) { s.Plan = nil }, true},
		{"deep in a list", func(s *v1.CellStatus) { s.Plan.Tasks[0].Note = "x" }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t, func(s *v1.CellStatus) {
				s.Phase, s.LastSync, s.Counter = "Ready", &seconds, 1<<53
				s.Plan = &v1.Plan{ID: "p-1", Tasks: []v1.Task{{Name: "one"}}}
			})
			cell, p := b.fetch()
			row.edit(&cell.Status)
			want := cell.Status.DeepCopy()
			if got := p.Changed(); got != row.changed {
				t.Errorf("Changed: %v, want %v", got, row.changed)
			}
			if !reflect.DeepEqual(&cell.Status, want) {
				t.Error("Changed changed the status")
			}
			result := patcher.ResultUnchanged
			if row.changed {
				result = patcher.ResultPatched
			}
			sent := b.wire.during(func() { b.flush(p, result) })
			if got := len(sent) == 1; got != row.changed {
				t.Errorf("sent %v", sent)
			}
			if row.changed {
				requireJSON(t, b.live().Status, *want)
			}
		})
	}
}

func TestS08_OneRequestCarriesEverything(t *testing.T) {
	b := newBed(t)
	cell, p := b.fetch()
	cell.Status.Phase = "Ready"
	p.SetObservedGeneration()
	p.SetCondition(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"})
	status := patchOf(t, b.wire.during(func() { b.flush(p, patcher.ResultPatched) }))["status"].(map[string]any)
	for _, name := range []string{"phase", "observedGeneration", "conditions"} {
		if status[name] == nil {
			t.Errorf("no %s in the one patch: %v", name, status)
		}
	}
	t.Run("control: a helper that writes conditions and data apart shows half a decision in between", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		sent := b.wire.during(func() {
			base := cell.DeepCopy()
			cell.Status.Phase = "Ready"
			b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
			if half := b.live().Status; half.Phase != "Ready" || len(half.Conditions) > 0 {
				t.Errorf("in between the server has %+v", half)
			}
			base = cell.DeepCopy()
			readySince(longAgo)(&cell.Status)
			b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		})
		if _, err := realserver.OneStatusPatch(sent); err == nil {
			t.Error("two writes count as one: the test above proves nothing")
		}
	})
}

func TestS09_TheAnswerBecomesTheBase(t *testing.T) {
	t.Run("rule: the status stays in place, unsaved edits survive, the version moves", func(t *testing.T) {
		b := newBed(t, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "p-1"} })
		cell, p := b.fetch()
		plan := cell.Status.Plan
		plan.Done = true
		cell.Spec.Image = "unsaved:1"
		cell.Labels["unsaved"] = "yes"
		b.flush(p, patcher.ResultPatched)
		if cell.Status.Plan != plan {
			t.Error("the status was replaced, though the server stored what was sent")
		}
		if cell.Spec.Image != "unsaved:1" || cell.Labels["unsaved"] != "yes" {
			t.Errorf("the unsaved edits are gone: %+v", cell)
		}
		if live := b.live(); cell.ResourceVersion != live.ResourceVersion {
			t.Errorf("resourceVersion %s, the server has %s", cell.ResourceVersion, live.ResourceVersion)
		}
		b.must(b.wire.Update(b.ctx, cell))
	})
	t.Run("rule: what the server added is taken over", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Phase = "Ready" // the schema gives every status a tier
		b.flush(p, patcher.ResultPatched)
		if cell.Status.Tier != "standard" || p.Changed() {
			t.Errorf("tier %q, changed %v; want the server's default, and no change", cell.Status.Tier, p.Changed())
		}
	})
	t.Run("control: the plain idiom wipes unsaved edits", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		base := cell.DeepCopy()
		cell.Labels["unsaved"] = "yes"
		cell.Status.Phase = "Ready"
		b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		if cell.Labels["unsaved"] != "" {
			t.Error("the label survived: the test above proves nothing")
		}
	})
}

func TestS10_AFlushThatFailsChangesNothing(t *testing.T) {
	b := newBed(t, phase("Ready"))
	cell, p := b.fetch()
	b.forge(phase("Foreign"))
	cell.Status.Phase = "Mine"
	cell.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "R", Message: strings.Repeat("m", 40000)}}
	before, observed := cell.DeepCopy(), p.Observed()
	if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
		t.Fatalf("Flush on a stale base: %v", err)
	}
	if !reflect.DeepEqual(before, cell) {
		t.Errorf("the object changed:\n%+v\n%+v", before, cell)
	}
	if !reflect.DeepEqual(observed, p.Observed()) {
		t.Error("the base changed")
	}
	t.Run("control: what is readied for sending in place stays so when the write fails", func(t *testing.T) {
		naive := cell.DeepCopy()
		naive.Status.Conditions[0].LastTransitionTime = metav1.Now()
		if err := b.wire.Status().Update(b.ctx, naive); err == nil {
			t.Fatal("an Update on a stale version succeeded")
		}
		if reflect.DeepEqual(before.Status, naive.Status) {
			t.Error("the status is as before: the test above proves nothing")
		}
	})
}

func TestS10_FlushAnyNumberOfTimes(t *testing.T) {
	b := newBed(t)
	cell, p := b.fetch()
	for i := range 5 {
		cell.Status.Counter = int64(i + 1)
		b.flush(p, patcher.ResultPatched)
		b.flush(p, patcher.ResultUnchanged)
	}
	if got := b.live().Status.Counter; got != 5 {
		t.Errorf("counter %d, want 5", got)
	}
}

func TestS11_AConflictIsAlwaysAnError(t *testing.T) {
	t.Run("rule", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		version := cell.ResourceVersion
		b.forge(phase("Foreign"))
		cell.Status.Phase = "Mine"
		_, err := p.Flush(b.ctx)
		err = fmt.Errorf("twice: %w", fmt.Errorf("wrapped: %w", err))
		var conflict *patcher.ConflictError
		if !errors.As(err, &conflict) || !apierrors.IsConflict(err) {
			t.Fatalf("%v is no *ConflictError for which IsConflict holds", err)
		}
		if conflict.Kind != "Cell" || conflict.Key != b.key || conflict.ResourceVersion != version || conflict.Attempts != 1 {
			t.Errorf("%+v", conflict)
		}
		if got := b.live().Status.Phase; got != "Foreign" {
			t.Errorf("phase %q: the other writer's status is lost", got)
		}
	})
	t.Run("control: the blind merge overwrites in silence", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		base := cell.DeepCopy()
		b.forge(phase("Foreign"))
		cell.Status.Phase = "Mine"
		b.must(b.wire.Status().Patch(b.ctx, cell, blindMerge(base)))
		if got := b.live().Status.Phase; got != "Mine" {
			t.Errorf("phase %q: the test above proves nothing", got)
		}
	})
}

func TestS12_AnObjectReadBehindThePatcher(t *testing.T) {
	b := newBed(t)
	cell, p := b.fetch()
	cell.Spec.Image = "image:2"
	b.must(b.wire.Update(b.ctx, cell))
	t.Run("rule: with nothing to send it returns nil", func(t *testing.T) {
		b.flush(p, patcher.ResultUnchanged)
	})
	t.Run("rule: something to send is ErrStaleBase, and is not sent", func(t *testing.T) {
		cell.Status.Phase = "Ready"
		sent := b.wire.during(func() {
			if _, err := p.Flush(b.ctx); !errors.Is(err, patcher.ErrStaleBase) {
				t.Errorf("Flush: %v, want ErrStaleBase", err)
			}
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("rule: Refresh is the way out", func(t *testing.T) {
		b.must(p.Refresh(b.ctx))
		cell.Status.Phase = "Ready"
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("control: the new version under the old base defeats the lock", func(t *testing.T) {
		cell := b.live()
		base := cell.DeepCopy()
		b.forge(phase("Foreign"))
		base.ResourceVersion = b.live().ResourceVersion
		cell.Status.Phase = "Mine"
		b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		if got := b.live().Status.Phase; got != "Mine" {
			t.Errorf("phase %q: the test above proves nothing", got)
		}
	})
}

func TestS13_A404IsSettled(t *testing.T) {
	t.Run("rule: gone while it was being deleted is no error", func(t *testing.T) {
		b := newBed(t)
		b.mutate(func(c *v1.Cell) { c.Finalizers = []string{"example.com/f"} })
		b.must(b.wire.Delete(b.ctx, b.live()))
		cell, p := b.fetch()
		b.mutate(func(c *v1.Cell) { c.Finalizers = nil })
		cell.Status.Phase = "Deleted"
		b.flush(p, patcher.ResultGone)
	})
	t.Run("rule: gone otherwise is the NotFound", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		b.must(b.wire.Delete(b.ctx, b.live()))
		cell.Status.Phase = "Ready"
		if _, err := p.Flush(b.ctx); !apierrors.IsNotFound(err) || errors.Is(err, patcher.ErrNoStatusSubresource) {
			t.Errorf("Flush: %v, want NotFound", err)
		}
	})
	t.Run("rule: no status subresource", func(t *testing.T) {
		scheme := newScheme(t)
		cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cell).Build()
		requireNoSubresource(t, c, client.ObjectKeyFromObject(cell))
	})
	t.Run("control: the server answers the same 404 for both", func(t *testing.T) {
		gone := apierrors.NewNotFound(schema.GroupResource{Resource: "cells"}, "a")
		b := newBed(t)
		cell := b.live()
		b.must(b.wire.Delete(b.ctx, cell))
		err := b.wire.Status().Patch(b.ctx, cell, client.RawPatch(lockedMerge(cell).Type(), []byte(`{"status":{"phase":"x"}}`)))
		if apierrors.ReasonForError(err) != apierrors.ReasonForError(gone) {
			t.Errorf("%v can be told from a missing subresource: no live read would be needed", err)
		}
	})
}

func requireNoSubresource(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	cell, p, err := v1status.NewCellStatusClient(c, c).Fetch(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(context.Background())
	if !errors.Is(err, patcher.ErrNoStatusSubresource) || !strings.Contains(err.Error(), "+kubebuilder:subresource:status") {
		t.Errorf("Flush: %v, want ErrNoStatusSubresource with the mend", err)
	}
}
