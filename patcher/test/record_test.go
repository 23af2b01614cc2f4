package patcher_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

func requireNotRecorded(t testing.TB, err error, value, existing, reason string) {
	t.Helper()
	var lost *patcher.NotRecordedError
	if !errors.As(err, &lost) {
		t.Fatalf("%v, want a NotRecordedError", err)
	}
	if lost.Value != value || lost.Existing != existing || !strings.Contains(lost.Reason.Error(), reason) || !strings.Contains(err.Error(), value) {
		t.Errorf("value %q, existing %q, reason %q; want %q, %q, %q", lost.Value, lost.Existing, lost.Reason, value, existing, reason)
	}
	if _, err := patcher.RequeueOnConflict(err); err == nil {
		t.Error("RequeueOnConflict swallowed it")
	}
}

func TestS93_ARecordLandsIfItCan(t *testing.T) {
	t.Run("rule: the field alone, and other edits stay pending", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		order, p := b.fetch()
		order.Status.Phase = "Taken"
		p.SetCondition(metav1.Condition{Type: "Ready", Status: "False"})
		sent := b.wire.during(func() { b.must(p.RecordPlanSnapshotID(b.ctx, "s-1")) })
		want := map[string]any{"plan": map[string]any{"snapshotID": "s-1", "steps": []any{}}, "parts": map[string]any{"ready": false}}
		if status := patchOf(t, sent)["status"]; !reflect.DeepEqual(status, want) {
			t.Errorf("sent %v, want %v", status, want)
		}
		if live := b.live().Status; live.Phase != "" || live.Plan.SnapshotID != "s-1" {
			t.Errorf("the server has %+v", live)
		}
		if order.Status.Phase != "Taken" || order.Status.Plan.SnapshotID != "s-1" {
			t.Errorf("the object has %+v", order.Status)
		}
		sent = b.wire.during(func() { b.must(p.RecordPlanSnapshotID(b.ctx, "s-1")) })
		if len(sent) > 0 {
			t.Errorf("the same value again sent %v", sent)
		}
		requireNotRecorded(t, p.RecordPlanSnapshotID(b.ctx, "s-2"), "s-2", "s-1", "another value")
		if _, err := p.Flush(b.ctx); !errors.Is(err, patcher.ErrInvalidCondition) || b.live().Status.Phase != "Taken" {
			t.Errorf("Flush: %v, the server has %q", err, b.live().Status.Phase)
		}
	})
	for name, between := range map[string]func(b *orderBed){
		"a foreign status":  func(b *orderBed) { b.forge(func(s *contracts.OrderStatus) { s.Phase = "Foreign" }) },
		"a new spec":        func(b *orderBed) { b.mutate(func(o *contracts.Order) { o.Spec.Size++ }) },
		"a label":           func(b *orderBed) { b.mutate(func(o *contracts.Order) { o.Labels["tier"] = "two" }) },
		"the same value":    func(b *orderBed) { b.forge(func(s *contracts.OrderStatus) { s.Plan.SnapshotID = "s-1" }) },
		"a deletion":        func(b *orderBed) { b.must(b.wire.Delete(b.ctx, b.live())) },
		"a deletion before": nil,
	} {
		t.Run("rule: after a conflict: "+name, func(t *testing.T) {
			b := newOrder(t, planned("p-1"))
			b.mutate(func(o *contracts.Order) { o.Finalizers = []string{"example.com/f"} })
			if between == nil {
				b.must(b.wire.Delete(b.ctx, b.live()))
			}
			order, p := b.fetch()
			if between != nil {
				between(b)
			}
			b.must(p.RecordPlanSnapshotID(b.ctx, "s-1"))
			live := b.live()
			if live.Status.Plan.SnapshotID != "s-1" || order.Status.Plan.SnapshotID != "s-1" {
				t.Errorf("the server has %+v, the object %+v", live.Status.Plan, order.Status.Plan)
			}
			if name == "a foreign status" && live.Status.Phase != "Foreign" {
				t.Errorf("the foreign write was lost: %+v", live.Status)
			}
			if between == nil {
				return
			}
			if result, err := p.Flush(b.ctx); err != nil || result != patcher.ResultUnchanged {
				t.Errorf("Flush with nothing pending: %q, %v", result, err)
			}
			order.Status.Phase = "Mine"
			if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
				t.Errorf("Flush: %v: the patcher goes on with a base that it has not seen", err)
			}
			if _, err := p.ClaimVolumeID(b.ctx, nil); !apierrors.IsConflict(err) {
				t.Errorf("Claim: %v", err)
			}
			b.must(p.RecordVolumeID(b.ctx, "v-1")) // another ID must land all the same
			b.must(p.Refresh(b.ctx))
			order.Status.Phase = "Mine"
			b.flush(p, patcher.ResultPatched)
		})
	}
	for name, fault := range map[string]*realserver.Fault{
		"a timeout, not landed": realserver.NewFault(orderPatches, realserver.Timeout(), realserver.Times(1)),
		"a timeout, landed":     realserver.NewFault(orderPatches, realserver.Timeout(), realserver.Times(1), realserver.AfterCommit()),
		"a reset, landed":       realserver.NewFault(orderPatches, realserver.ConnectionReset(), realserver.Times(1), realserver.AfterCommit()),
		"an internal error":     realserver.NewFault(orderPatches, realserver.InternalError(), realserver.Times(3)),
		"a read that fails":     realserver.NewFault(realserver.Requests("get", "orders"), realserver.InternalError(), realserver.Times(1)),
	} {
		t.Run("rule: after "+name, func(t *testing.T) {
			b := newOrder(t, planned("p-1"))
			order, _ := b.fetch()
			w := &wire{}
			w.WithWatch = server.Client(t, newScheme(t), w.recorder.Wrap, fault.Wrap)
			p, err := v1status.NewOrderStatusClient(w, w).For(order)
			b.must(err)
			if name == "a read that fails" {
				b.forge(func(s *contracts.OrderStatus) { s.Phase = "Foreign" })
			}
			b.must(p.RecordPlanSnapshotID(b.ctx, "s-1"))
			if got := b.live().Status.Plan.SnapshotID; got != "s-1" || fault.Hits() == 0 {
				t.Errorf("the server has %q, %d faults", got, fault.Hits())
			}
		})
	}
	t.Run("rule: a context that has ended", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		_, p := b.fetch()
		b.forge(func(s *contracts.OrderStatus) { s.Phase = "Foreign" })
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		b.must(p.RecordPlanSnapshotID(ctx, "s-1"))
		if got := b.live().Status.Plan.SnapshotID; got != "s-1" {
			t.Errorf("the server has %q", got)
		}
	})
	t.Run("control: a deferred Flush loses the ID to a conflict", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		order, p := b.fetch()
		b.forge(func(s *contracts.OrderStatus) { s.Phase = "Foreign" })
		order.Status.Plan.SnapshotID = "s-1"
		var result ctrl.Result
		var err error
		p.FlushOnReturn(b.ctx, &result, &err)
		if err != nil || b.live().Status.Plan.SnapshotID != "" {
			t.Errorf("%v: it landed, and the tests above prove nothing", err)
		}
	})
}

func TestS94_ARecordThatCannotLandNamesTheDuplicate(t *testing.T) {
	for name, row := range map[string]struct {
		between          func(b *orderBed)
		existing, reason string
	}{
		"another value":          {func(b *orderBed) { b.forge(func(s *contracts.OrderStatus) { s.Plan.SnapshotID = "s-0" }) }, "s-0", "another value"},
		"another plan":           {func(b *orderBed) { b.forge(planned("p-2")) }, "", `another status.plan.id: "p-1", which is now "p-2"`},
		"no plan":                {func(b *orderBed) { b.forge(func(s *contracts.OrderStatus) { s.Plan = nil }) }, "", "does not exist any more"},
		"an object that is gone": {func(b *orderBed) { b.must(b.wire.Delete(b.ctx, b.live())) }, "", "gone"},
		"another object": {func(b *orderBed) {
			order := b.live()
			b.must(b.wire.Delete(b.ctx, order))
			order.UID, order.ResourceVersion = "", ""
			b.must(b.wire.Create(b.ctx, order))
			b.forge(planned("p-1"))
		}, "", patcher.ErrReplaced.Error()},
	} {
		t.Run("rule: "+name, func(t *testing.T) {
			b := newOrder(t, planned("p-1"))
			order, p := b.fetch()
			row.between(b)
			requireNotRecorded(t, p.RecordPlanSnapshotID(b.ctx, "s-1"), "s-1", row.existing, row.reason)
			if order.Status.Plan.SnapshotID != "" {
				t.Errorf("the object has %q, which is not stored", order.Status.Plan.SnapshotID)
			}
			live := &contracts.Order{}
			if err := b.wire.Get(b.ctx, b.key, live); err == nil && live.Status.Plan != nil && live.Status.Plan.SnapshotID == "s-1" {
				t.Error("it landed in another place")
			}
		})
	}
	t.Run("rule: a plan that did not exist when the object was read", func(t *testing.T) {
		b := newOrder(t)
		_, p := b.fetch()
		b.forge(planned("p-1"))
		requireNotRecorded(t, p.RecordPlanSnapshotID(b.ctx, "s-1"), "s-1", "", "did not exist")
	})
	t.Run("rule: another value that is pending", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		order, p := b.fetch()
		order.Status.Plan.SnapshotID = "pending"
		requireNotRecorded(t, p.RecordPlanSnapshotID(b.ctx, "s-1"), "s-1", "pending", "pending")
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("rule: what the API server refuses for good", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		order, _ := b.fetch()
		p, err := v1status.NewOrderStatusClient(b.wire, patcher.NoLiveReader).For(order)
		b.must(err)
		b.forge(func(s *contracts.OrderStatus) { s.Phase = "Foreign" })
		began := time.Now()
		err = p.RecordPlanSnapshotID(b.ctx, "s-1")
		requireNotRecorded(t, err, "s-1", "", patcher.ErrNoLiveReader.Error())
		if !errors.Is(err, patcher.ErrNoLiveReader) || time.Since(began) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	t.Run("rule: time is up, and what is not known is said", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		_, p := b.fetch(realserver.NewFault(orderPatches, realserver.Timeout(), realserver.Times(-1)))
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		err := p.RecordPlanSnapshotID(ctx, "s-1")
		requireNotRecorded(t, err, "s-1", "", "time is up")
		if !errors.Is(err, patcher.ErrUnknownOutcome) || !strings.Contains(err.Error(), "may not have been recorded") {
			t.Errorf("%v: the caller would delete what may be recorded", err)
		}
	})
	t.Run("rule: an empty value is refused", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		_, p := b.fetch()
		var lost *patcher.NotRecordedError
		if err := p.RecordPlanSnapshotID(b.ctx, ""); err == nil || errors.As(err, &lost) {
			t.Errorf("%v", err)
		}
	})
	t.Run("control: a Retry puts the resource of one plan into another one", func(t *testing.T) {
		b := newOrder(t, planned("p-1"))
		_, p := b.fetch()
		b.forge(planned("p-2"))
		_, err := p.Retry(b.ctx, func(order *contracts.Order) error { order.Status.Plan.SnapshotID = "s-1"; return nil })
		if err != nil || b.live().Status.Plan.ID != "p-2" || b.live().Status.Plan.SnapshotID != "s-1" {
			t.Errorf("%v: it did not, and the tests above prove nothing", err)
		}
	})
}
