package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// minting mints p-1, p-2 and so on.
func minting(count *int) func() string {
	return func() string { *count++; return fmt.Sprint("p-", *count) }
}

func TestS91_AClaimIsDurableBeforeItIsReturned(t *testing.T) {
	t.Run("rule: minted once, stored alone, and other edits stay pending", func(t *testing.T) {
		b := newOrder(t)
		order, p := b.fetch()
		order.Status.Phase = "Planned"
		p.SetCondition(metav1.Condition{Type: "Ready", Status: "False"}) // without a reason, so it is invalid
		count := 0
		var id string
		var err error
		sent := b.wire.during(func() { id, err = p.ClaimPlanID(b.ctx, minting(&count)) })
		b.must(err)
		want := map[string]any{"plan": map[string]any{"id": "p-1", "steps": []any{}}, "parts": map[string]any{"ready": false}}
		if status := patchOf(t, sent)["status"]; !reflect.DeepEqual(status, want) {
			t.Errorf("sent %v, want the field and what is required beside it, %v", status, want)
		}
		if live := b.live().Status; id != "p-1" || live.Plan == nil || live.Plan.ID != "p-1" || live.Phase != "" {
			t.Errorf("claimed %q, the server has %+v", id, live)
		}
		if order.Status.Phase != "Planned" || order.Status.Plan.ID != "p-1" || order.Status.Plan.Mode != "gentle" {
			t.Errorf("the object has %+v, want the pending edit, the claim, and the default of its parent", order.Status)
		}
		again, err := p.ClaimPlanID(b.ctx, minting(&count))
		if again != "p-1" || err != nil || count != 1 {
			t.Errorf("claimed again: %q, %v, minted %d times", again, err, count)
		}
		order.Status.Plan.Steps = []string{"one"}
		if _, err := p.Flush(b.ctx); !errors.Is(err, patcher.ErrInvalidCondition) {
			t.Errorf("Flush: %v, want the error about the invalid condition", err)
		}
		if live := b.live().Status; live.Phase != "Planned" || len(live.Plan.Steps) != 1 {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("rule: the value that the base has, without a request", func(t *testing.T) {
		b := newOrder(t, planned("p-0"))
		_, p := b.fetch()
		sent := b.wire.during(func() {
			id, err := p.ClaimPlanID(b.ctx, func() string { t.Error("minted"); return "p-1" })
			if id != "p-0" || err != nil {
				t.Errorf("%q, %v", id, err)
			}
		})
		if len(sent) > 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("rule: every type", func(t *testing.T) {
		b := newOrder(t)
		_, p := b.fetch()
		volume, err := p.ClaimVolumeID(b.ctx, func() types.UID { return "v-1" })
		b.must(err)
		address, err := p.ClaimAddress(b.ctx, func() contracts.Address { return contracts.Address{ARN: "arn", Region: "here"} })
		b.must(err)
		port, err := p.ClaimPort(b.ctx, func() int32 { return 0 })
		b.must(err)
		serial, err := p.ClaimPartsSerial(b.ctx, func() string { return "n-1" })
		b.must(err)
		live := b.live().Status
		if live.VolumeID != volume || *live.Address != address || *live.Port != port || live.Parts.Serial != serial || serial != "n-1" {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("rule: nothing is written if mint panics or returns nothing", func(t *testing.T) {
		b := newOrder(t)
		order, p := b.fetch()
		sent := b.wire.during(func() {
			if _, err := p.ClaimPlanID(b.ctx, func() string { return "" }); err == nil {
				t.Error("an empty value was claimed")
			}
			func() {
				defer func() { _ = recover() }()
				_, _ = p.ClaimPlanID(b.ctx, func() string { panic("a mistake") })
			}()
		})
		if len(sent) > 0 || order.Status.Plan != nil || p.Changed() {
			t.Errorf("sent %v, the object has %+v", sent, order.Status.Plan)
		}
	})
	t.Run("rule: another value that is pending, before any request", func(t *testing.T) {
		b := newOrder(t)
		order, p := b.fetch()
		planned("mine")(&order.Status)
		count := 0
		sent := b.wire.during(func() {
			_, err := p.ClaimPlanID(b.ctx, minting(&count))
			requireWriteOnce(t, err, b.key, "plan.id", "", "mine")
		})
		b.flush(p, patcher.ResultPatched)
		order.Status.Plan.ID = "other"
		_, err := p.ClaimPlanID(b.ctx, minting(&count))
		requireWriteOnce(t, err, b.key, "plan.id", "mine", "other")
		order.Status.Plan = nil
		_, err = p.ClaimPlanID(b.ctx, minting(&count))
		requireWriteOnce(t, err, b.key, "plan.id", "mine", "")
		if len(sent) > 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("rule: of two that claim one wins, and the other has no value", func(t *testing.T) {
		b := newOrder(t)
		_, winner := b.fetch()
		order, loser := b.fetch()
		id, err := winner.ClaimPlanID(b.ctx, func() string { return "first" })
		b.must(err)
		lost, err := loser.ClaimPlanID(b.ctx, func() string { return "second" })
		if !apierrors.IsConflict(err) || lost != "" || order.Status.Plan != nil {
			t.Errorf("the loser got %q, %v, and has %+v in hand", lost, err, order.Status.Plan)
		}
		if _, err := patcher.RequeueOnConflict(err); err != nil {
			t.Errorf("the conflict is not quiet: %v", err)
		}
		if got := b.live().Status.Plan.ID; got != id {
			t.Errorf("the server has %q, want %q", got, id)
		}
		b.must(loser.Refresh(b.ctx))
		if id, err := loser.ClaimPlanID(b.ctx, func() string { return "third" }); id != "first" || err != nil {
			t.Errorf("after Refresh: %q, %v", id, err)
		}
	})
	t.Run("rule: an object that is gone", func(t *testing.T) {
		b := newOrder(t)
		b.mutate(func(o *contracts.Order) { o.Finalizers = []string{"example.com/f"} })
		b.must(b.wire.Delete(b.ctx, b.live()))
		_, p := b.fetch()
		b.mutate(func(o *contracts.Order) { o.Finalizers = nil })
		if id, err := p.ClaimPlanID(b.ctx, func() string { return "p-1" }); id != "" || !apierrors.IsNotFound(err) {
			t.Errorf("%q, %v, want a NotFound", id, err)
		}
	})
	t.Run("control: an ID that is used before it is stored is lost", func(t *testing.T) {
		b := newOrder(t)
		_, p := b.fetch()
		order, late := b.fetch()
		planned("used")(&order.Status) // and the external resource is made under it
		if _, err := p.ClaimPlanID(b.ctx, func() string { return "first" }); err != nil {
			t.Fatal(err)
		}
		if _, err := late.Flush(b.ctx); !apierrors.IsConflict(err) || b.live().Status.Plan.ID == "used" {
			t.Errorf("%v: the ID is not lost, and the tests above prove nothing", err)
		}
	})
}

func TestS92_AClaimOfUnknownOutcome(t *testing.T) {
	for name, after := range map[string][]realserver.FaultOption{"not landed": nil, "landed": {realserver.AfterCommit()}} {
		for _, times := range []int{1, 3} {
			if times == 3 && after != nil {
				continue // the second request conflicts, and is the last one
			}
			t.Run(fmt.Sprintf("rule: the same value is sent again: %s, %d times", name, times), func(t *testing.T) {
				b := newOrder(t)
				fault := realserver.NewFault(orderPatches, realserver.Timeout(), append(after, realserver.Times(times))...)
				order, p := b.fetch(fault)
				order.Status.Phase = "Planned"
				count := 0
				mint := func() types.UID { return types.UID(minting(&count)()) }
				id, err := p.ClaimVolumeID(b.ctx, mint)
				if times == 3 { // a single Claim gives up
					if !errors.Is(err, patcher.ErrUnknownOutcome) || order.Status.VolumeID != "" {
						t.Errorf("%v, with %q in hand, want an unknown outcome and nothing", err, order.Status.VolumeID)
					}
					id, err = p.ClaimVolumeID(b.ctx, mint)
				}
				if id != "p-1" || err != nil || count != 1 || b.live().Status.VolumeID != "p-1" {
					t.Errorf("%q, %v, minted %d times, the server has %q", id, err, count, b.live().Status.VolumeID)
				}
				b.flush(p, patcher.ResultPatched) // nobody else wrote, so the patcher goes on
			})
		}
	}
	t.Run("rule: an equal live value is success, and what others wrote is not overwritten", func(t *testing.T) {
		b := newOrder(t)
		landed := realserver.NewFault(orderPatches, realserver.Timeout(), realserver.AfterCommit(), realserver.Times(1))
		between := realserver.NewFault(func(r realserver.Request) bool {
			if orderPatches(r) && landed.Hits() == 1 {
				b.forge(func(s *contracts.OrderStatus) { s.VolumeID = "v-1" })
			}
			return false
		}, realserver.Timeout())
		order, p := b.fetch(between, landed)
		count := 0
		id, err := p.ClaimPlanID(b.ctx, minting(&count))
		if id != "p-1" || err != nil || order.Status.Plan.ID != "p-1" {
			t.Fatalf("%q, %v", id, err)
		}
		order.Status.Phase = "Planned"
		if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
			t.Errorf("Flush: %v, want a conflict: the object has changed", err)
		}
		if live := b.live().Status; live.VolumeID != "v-1" || live.Plan.ID != "p-1" {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("rule: a server that does not store the value is an error", func(t *testing.T) {
		b := newOrder(t)
		dry := client.NewDryRunClient(b.wire)
		order, p, err := v1status.NewOrderStatusClient(dry, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		if id, err := p.ClaimPlanID(b.ctx, func() string { return "p-1" }); id != "" || err == nil || order.Status.Plan != nil {
			t.Errorf("%q, %v", id, err)
		}
	})
	t.Run("control: minting again leaves two IDs in use", func(t *testing.T) {
		b := newOrder(t)
		fault := realserver.NewFault(orderPatches, realserver.Timeout(), realserver.AfterCommit(), realserver.Times(1))
		order, p := b.fetch(fault)
		used := map[string]bool{}
		count := 0
		for range 2 {
			planned(minting(&count)())(&order.Status)
			used[order.Status.Plan.ID] = true
			if _, err := p.Flush(b.ctx); err == nil {
				break
			}
		}
		if len(used) != 2 {
			t.Errorf("used %v: the tests above prove nothing", used)
		}
	})
	t.Run("rule: the context ends", func(t *testing.T) {
		b := newOrder(t)
		_, p := b.fetch()
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		if id, err := p.ClaimPlanID(ctx, func() string { return "p-1" }); id != "" || !errors.Is(err, context.Canceled) || b.live().Status.Plan != nil {
			t.Errorf("%q, %v", id, err)
		}
	})
}
