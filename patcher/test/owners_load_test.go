package patcher_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
)

// fullLoad has TestOwnersBesideOtherWriters make 2,000 updates in each way.
var fullLoad = flag.Bool("owners", false, "make 2,000 updates by each way of writing a status that 32 owners share")

const slotOwners = 32

// slotOwner owns one of the slots.
func slotOwner(n int) *patcher.Owner {
	return &patcher.Owner{Name: fmt.Sprint("owner", n), Fields: []string{fmt.Sprintf("slots.s%02d", n)}, Rebases: true}
}

// slot is the field of an owner.
func slot(s *contracts.SiteStatus, n int) *int64 {
	if s.Slots == nil {
		s.Slots = &contracts.Slots{}
	}
	return reflect.ValueOf(s.Slots).Elem().Field(n - 1).Addr().Interface().(*int64)
}

// A slotWriter adds step to the slot of owner n. It returns how often its caller had to begin again. The replicas of one owner have
// steps of their own, since an owner that finds its value there takes it for written.
type slotWriter func(ctx context.Context, w *wire, key client.ObjectKey, n int, step int64) (again int, err error)

// slotSteps are those of two replicas: what the slot has is the sum of both.
var slotSteps = []int64{1, 1000}

// byOwner reads, decides and flushes, as a reconcile does.
func byOwner() slotWriter {
	owners := map[int]*patcher.Owner{}
	for n := 1; n <= slotOwners; n++ {
		owners[n] = slotOwner(n)
	}
	return func(ctx context.Context, w *wire, key client.ObjectKey, n int, step int64) (again int, err error) {
		sites := patcher.NewOwnerClient(v1status.SiteKind, owners[n], w, w)
		for {
			p := &patcher.Patcher[*contracts.Site, contracts.SiteStatus]{}
			site, err := sites.Fetch(ctx, key, p)
			if err != nil {
				return again, err
			}
			*slot(&site.Status, n) += step
			if _, err = p.Flush(ctx); !apierrors.IsConflict(err) {
				return again, err
			}
			again++
		}
	}
}

func byApply(ctx context.Context, w *wire, key client.ObjectKey, n int, step int64) (int, error) {
	site := &contracts.Site{}
	if err := w.Get(ctx, key, site); err != nil {
		return 0, err
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": contracts.GroupVersion.String(), "kind": "Site", "metadata": map[string]any{"name": key.Name, "namespace": key.Namespace},
		"status": map[string]any{"slots": map[string]any{fmt.Sprintf("s%02d", n): *slot(&site.Status, n) + step}},
	})
	if err != nil {
		return 0, err
	}
	return 0, w.Status().Patch(ctx, site, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(fmt.Sprint("owner", n)), client.ForceOwnership)
}

func byUpdate(ctx context.Context, w *wire, key client.ObjectKey, n int, step int64) (again int, err error) {
	tries := 0
	err = retry.OnError(retry.DefaultRetry, apierrors.IsConflict, func() error {
		tries++
		site := &contracts.Site{}
		if err := w.Get(ctx, key, site); err != nil {
			return err
		}
		*slot(&site.Status, n) += step
		return w.Status().Update(ctx, site)
	})
	if apierrors.IsConflict(err) {
		again, err = byUpdate(ctx, w, key, n, step)
		return again + 1, err
	}
	return 0, err
}

func byBlindPatch(ctx context.Context, w *wire, key client.ObjectKey, n int, step int64) (int, error) {
	site := &contracts.Site{}
	if err := w.Get(ctx, key, site); err != nil {
		return 0, err
	}
	base := site.DeepCopy()
	*slot(&site.Status, n) += step
	return 0, w.Status().Patch(ctx, site, client.MergeFrom(base))
}

// outcome is what a number of updates by all owners came to.
type slotOutcome struct {
	lost, again int64
	requests    int
}

func (o slotOutcome) String() string {
	return fmt.Sprintf("%d updates lost, %d conflicts reached a caller, %d requests", o.lost, o.again, o.requests)
}

// runSlots has the owners make so many updates each, all at once.
func runSlots(t *testing.T, owners, updates, replicas int, write slotWriter) slotOutcome {
	t.Helper()
	b := newSite(t, func(s *contracts.SiteStatus) { s.Slots = &contracts.Slots{} })
	var wires []*wire
	var again atomic.Int64
	var group sync.WaitGroup
	for n := 1; n <= owners; n++ {
		for _, step := range slotSteps[:replicas] {
			w := newWire(t)
			wires = append(wires, w)
			group.Go(func() {
				for range updates / replicas {
					more, err := write(b.ctx, w, b.key, n, step)
					again.Add(int64(more))
					if err != nil {
						t.Errorf("owner %d: %v", n, err)
						return
					}
				}
			})
		}
	}
	group.Wait()
	out := slotOutcome{again: again.Load()}
	for _, w := range wires {
		out.requests += len(w.recorder.Requests())
	}
	live := b.live()
	for n := 1; n <= owners; n++ {
		sum := *slot(&live.Status, n)
		out.lost += int64(updates) - sum%1000 - sum/1000
	}
	return out
}

// TestS98_OwnersOfDisjointFields: many owners of disjoint fields lose nothing, and no conflict reaches a caller; two replicas of one
// owner still conflict with each other.
func TestS98_OwnersOfDisjointFields(t *testing.T) {
	t.Run("rule: 32 owners of disjoint fields", func(t *testing.T) {
		updates := 16
		if *fullLoad {
			updates = 64
		}
		got := runSlots(t, slotOwners, updates, 1, byOwner())
		t.Logf("%s for %d updates", got, slotOwners*updates)
		if got.lost != 0 || got.again != 0 {
			t.Errorf("%s, want none lost and none that reaches a caller", got)
		}
	})
	t.Run("rule: two replicas of each of 4 owners lose nothing", func(t *testing.T) {
		got := runSlots(t, 4, 40, 2, byOwner())
		t.Logf("%s for 160 updates", got)
		if got.lost != 0 {
			t.Errorf("%s", got)
		}
	})
	t.Run("control: two replicas of each of 4 owners, by server-side apply and by a blind patch", func(t *testing.T) {
		for name, write := range map[string]slotWriter{"apply": byApply, "blind": byBlindPatch} {
			got := runSlots(t, 4, 40, 2, write)
			t.Logf("%s: %s for 160 updates", name, got)
			if got.lost == 0 {
				t.Errorf("%s lost nothing: the test above proves nothing", name)
			}
		}
	})
	t.Run("rule: of two replicas of one owner, the stale one conflicts", func(t *testing.T) {
		b := newSite(t, allOwners)
		first, p := b.backup()
		second, stale := b.backup()
		first.Status.LastBackup, second.Status.LastBackup = "tuesday", "wednesday"
		b.flush(p, patcher.ResultPatched)
		b.conflict(stale, "its own status.lastBackup")
	})
	t.Run("control: with server-side apply the stale one lands", func(t *testing.T) {
		b := newSite(t, allOwners)
		for _, value := range []string{"tuesday", "wednesday"} { // both decided when it was monday
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":"Site","metadata":{"name":%q,"namespace":%q},"status":{"lastBackup":%q}}`,
				contracts.GroupVersion, b.key.Name, b.key.Namespace, value)
			b.must(b.wire.Status().Patch(b.ctx, newUnstructuredSite(b), client.RawPatch(types.ApplyPatchType, []byte(body)), client.FieldOwner("backup"), client.ForceOwnership))
		}
		if got := b.live().Status.LastBackup; got != "wednesday" {
			t.Errorf("the server has %q: the test above proves nothing", got)
		}
	})
}

// TestOwnersBesideOtherWriters prints what docs/several-controllers.md shows: 32 owners, 2,000 updates, by each way of writing.
func TestOwnersBesideOtherWriters(t *testing.T) {
	ways := map[string]slotWriter{"owner": byOwner(), "server-side apply": byApply, "RetryOnConflict with Update": byUpdate, "blind merge patch": byBlindPatch}
	names := []string{"owner", "server-side apply", "RetryOnConflict with Update", "blind merge patch"}
	updates := 4
	if *fullLoad {
		updates = 2000 / slotOwners
	}
	for _, name := range names {
		got := runSlots(t, slotOwners, updates, 1, ways[name])
		t.Logf("%s: %s for %d updates, %.1f per update", name, got, slotOwners*updates, float64(got.requests)/float64(slotOwners*updates))
		if got.lost != 0 && slices.Contains(names[:3], name) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
