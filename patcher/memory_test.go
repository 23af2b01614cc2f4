package patcher_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// mintOnce reconciles a cell: it makes a plan, which is a side effect, unless the status has one.
func mintOnce(t *testing.T, statuses *v1status.CellStatusClient, key client.ObjectKey) (effects int) {
	t.Helper()
	cell, p, err := statuses.Fetch(t.Context(), key)
	mustNot(t, err)
	if cell.Status.Plan == nil {
		effects++
		cell.Status.Plan = &v1.Plan{ID: "plan"}
	}
	_, err = p.Flush(t.Context())
	mustNot(t, err)
	return effects
}

// A cache that lags behind the writes of one whole round of reconciles, and however many objects there are: the next round
// sees what the last one wrote.
func TestMany_NoSideEffectTwiceBehindALaggingCache(t *testing.T) {
	const objects = 2000
	cells := make([]*v1.Cell, objects)
	for i := range cells {
		cells[i] = newCell(i)
	}
	rounds := func(t *testing.T, made func(cached, live client.Client) *v1status.CellStatusClient) (effects int) {
		live := newFake(t, cells...)
		cached := frozen(t, live)
		for range 2 {
			for _, cell := range cells {
				effects += mintOnce(t, made(cached, live), client.ObjectKeyFromObject(cell))
			}
		}
		return effects
	}
	t.Run("rule", func(t *testing.T) {
		var statuses *v1status.CellStatusClient
		got := rounds(t, func(cached, live client.Client) *v1status.CellStatusClient {
			if statuses == nil {
				statuses = v1status.NewCellStatusClient(cached, live)
			}
			return statuses
		})
		if got != objects {
			t.Errorf("%d side effects for %d objects", got, objects)
		}
	})
	t.Run("rule: a StatusClient that is made in each reconcile remembers the same", func(t *testing.T) {
		got := rounds(t, func(cached, live client.Client) *v1status.CellStatusClient {
			return v1status.NewCellStatusClient(cached, live)
		})
		if got != objects {
			t.Errorf("%d side effects for %d objects", got, objects)
		}
	})
}

// The cache is at v1, another writer makes v2, and our Retry writes v3: a Fetch must not return v1, nor v2.
func TestRetry_OwnWriteIsSeenThoughItWasNotOnTheCachedVersion(t *testing.T) {
	live := newFake(t, newCell(0))
	cached := frozen(t, live)
	key := client.ObjectKeyFromObject(newCell(0))
	other := v1status.NewCellStatusClient(newCounted(live), live)
	foreign := func(counter int64) {
		_, err := other.Retry(t.Context(), key, func(c *v1.Cell) error { c.Status.Counter = counter; return nil })
		mustNot(t, err)
	}
	foreign(1)
	statuses := v1status.NewCellStatusClient(cached, live)
	_, err := statuses.Retry(t.Context(), key, func(c *v1.Cell) error { c.Status.Plan = &v1.Plan{ID: "minted"}; return nil })
	mustNot(t, err)
	cell, _, err := statuses.Fetch(t.Context(), key)
	mustNot(t, err)
	if cell.Status.Plan == nil {
		t.Error("Fetch returned a version from before our own write: a second plan would be made")
	}
}

// A client that is bound to a namespace reads keys without one.
func TestFetch_KeyWithoutNamespace(t *testing.T) {
	live := newFake(t, newCell(0))
	statuses := v1status.NewCellStatusClient(client.NewNamespacedClient(frozen(t, live), "default"), live)
	effects := 0
	for range 2 {
		effects += mintOnce(t, statuses, client.ObjectKey{Name: "cell-0"})
	}
	if effects != 1 {
		t.Errorf("%d side effects: the own write was not seen", effects)
	}
}

// A write whose outcome is unknown, and that did not land, makes the next Fetch read live. Not all later ones.
func TestFetch_ReadsLiveOnceAfterAnUnknownOutcome(t *testing.T) {
	live := newCounted(newFake(t, newCell(0)))
	broken := true
	cached := newCounted(interceptor.NewClient(live.WithWatch, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if broken {
				return context.DeadlineExceeded
			}
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	}))
	statuses := v1status.NewCellStatusClient(cached, live)
	key := client.ObjectKeyFromObject(newCell(0))
	cell, p, err := statuses.Fetch(t.Context(), key)
	mustNot(t, err)
	cell.Status.Phase = "Mine"
	if _, err := p.Flush(t.Context()); err == nil {
		t.Fatal("Flush succeeded")
	}
	live.gets, cached.gets = 0, 0
	for range 50 {
		_, _, err := statuses.Fetch(t.Context(), key)
		mustNot(t, err)
	}
	if read := live.gets - cached.gets; read > 1 {
		t.Errorf("%d of 50 Fetches read live", read)
	}
}

// However many objects pass by, the memory of bases, writes and conflicts stays within its bounds.
func TestMemory_IsBounded(t *testing.T) {
	const objects = 200_000
	cell := newCell(0)
	cell.ResourceVersion = "7"
	c := interceptor.NewClient(newFake(t), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			*obj.(*v1.Cell) = *cell
			return nil
		},
	})
	statuses := v1status.NewCellStatusClient(c, patcher.NoLiveReader)
	grown := heap(func() {
		for i := range objects {
			cell = newCell(i)
			cell.ResourceVersion = "7"
			cell.Status.Writers = make([]string, 64) // 1 KB
			into := &v1.Cell{}
			mustNot(t, statuses.Get(t.Context(), client.ObjectKeyFromObject(cell), into))
			result, err := statuses.Flush(t.Context(), into)
			if err != nil || result != patcher.ResultUnchanged {
				t.Fatal(result, err)
			}
		}
	})
	if limit := uint64(16 << 20); grown > limit {
		t.Errorf("the heap grew by %d bytes over %d objects, want at most %d", grown, objects, limit)
	}
	runtime.KeepAlive(statuses)
}

func heap(f func()) (grown uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
}

// Making a StatusClient reads nothing by reflection, and forgets nothing.
func TestNewStatusClient_CostsNextToNothing(t *testing.T) {
	c := newFake(t)
	v1status.NewCellStatusClient(c, c)
	got := testing.AllocsPerRun(100, func() { v1status.NewCellStatusClient(c, c) })
	if got > 4 {
		t.Errorf("%v allocations", got)
	}
	t.Run("other clients have memories of their own, and few are kept", func(t *testing.T) {
		grown := heap(func() {
			for range 20_000 {
				other := newCounted(nil)
				v1status.NewCellStatusClient(other, other)
			}
		})
		if grown > 1<<20 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
	})
}

func BenchmarkNewStatusClient(b *testing.B) {
	c := newFake(b)
	b.ReportAllocs()
	for b.Loop() {
		v1status.NewCellStatusClient(c, c)
	}
}

// Every key's delay grows with its own conflicts, however many other keys conflict at the same time.
func TestMany_DelaysGrowForEachOfManyKeys(t *testing.T) {
	const keys = 5000
	c := answering(newFake(t), storageConflict())
	statuses := v1status.NewCellStatusClient(c, c, patcher.WithJitter(func() float64 { return 1 }))
	want := 20 * time.Millisecond
	for range 4 {
		for i := range keys {
			cell := newCell(i)
			cell.ResourceVersion = "1"
			p, err := statuses.For(cell)
			mustNot(t, err)
			cell.Status.Phase = "Mine"
			_, err = p.Flush(t.Context())
			if result, err := patcher.RequeueOnConflict(err); err != nil || result.RequeueAfter != want {
				t.Fatalf("key %d: %v, %v, want %v", i, result, err, want)
			}
		}
		want *= 2
	}
}

// Objects of a fake client may have no UID, and a fake client counts versions anew for each object. So what is remembered
// of an object that was deleted must not be found for the next one of its name.
func TestMemory_ObjectsWithoutUIDs(t *testing.T) {
	// create makes a cell, and returns it as a client reads it, at resourceVersion 2 each time.
	create := func(t *testing.T, c client.Client, uid types.UID, phase string) *v1.Cell {
		cell := newCell(0)
		cell.UID = uid
		mustNot(t, c.Create(t.Context(), cell))
		cell.Status.Phase = phase
		mustNot(t, c.Status().Update(t.Context(), cell))
		mustNot(t, c.Get(t.Context(), client.ObjectKeyFromObject(cell), cell))
		return cell
	}
	// landed reports whether an edit of the second object of the name lands, whose status is the first one's.
	landed := func(t *testing.T, c *counted, statuses *v1status.CellStatusClient, uid types.UID) bool {
		first := create(t, c, uid, "Ready")
		mustNot(t, statuses.Get(t.Context(), client.ObjectKeyFromObject(first), first))
		mustNot(t, c.Delete(t.Context(), first))
		second := create(t, c, uid, "Pending")
		if second.ResourceVersion != first.ResourceVersion {
			t.Fatalf("versions %s and %s: the test proves nothing", first.ResourceVersion, second.ResourceVersion)
		}
		second.Status.Phase = "Ready"
		_, err := statuses.Flush(t.Context(), second)
		mustNot(t, err)
		mustNot(t, c.Get(t.Context(), client.ObjectKeyFromObject(second), second))
		return second.Status.Phase == "Ready"
	}
	t.Run("rule: the base is read", func(t *testing.T) {
		c := newCounted(newFake(t))
		if !landed(t, c, v1status.NewCellStatusClient(c, c), "") {
			t.Error("the base of the first object was found for the second, and the edit is lost")
		}
	})
	t.Run("control: with one UID for both, it is remembered", func(t *testing.T) {
		c := newCounted(newFake(t))
		if landed(t, c, v1status.NewCellStatusClient(c, c), "same") {
			t.Error("nothing is remembered: the rule proves nothing")
		}
	})
	t.Run("rule: a refusal is not remembered", func(t *testing.T) {
		c := newFake(t)
		refusing := true
		client := newCounted(interceptor.NewClient(c, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				if refusing {
					return storageConflict()
				}
				return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
			},
		}))
		statuses := v1status.NewCellStatusClient(client, c)
		for _, refusing = range []bool{true, false} {
			cell := create(t, c, "", "Pending")
			cell.Status.Phase = "Ready"
			if _, err := statuses.Flush(t.Context(), cell); (err != nil) != refusing {
				t.Errorf("Flush: %v", err)
			}
			mustNot(t, c.Delete(t.Context(), cell))
		}
	})
	t.Run("rule: a version that was superseded is only read again", func(t *testing.T) {
		c := newCounted(newFake(t))
		statuses := v1status.NewCellStatusClient(c, c)
		first := create(t, c, "", "Ready")
		first.Status.Phase = "Done"
		_, err := statuses.Flush(t.Context(), first)
		mustNot(t, err)
		mustNot(t, c.Delete(t.Context(), first))
		create(t, c, "", "Pending")
		for round, want := range []int{2, 1} {
			c.gets = 0
			cell, _, err := statuses.Fetch(t.Context(), client.ObjectKeyFromObject(first))
			mustNot(t, err)
			if cell.Status.Phase != "Pending" || c.gets != want {
				t.Errorf("round %d: phase %q after %d reads, want %d", round, cell.Status.Phase, c.gets, want)
			}
		}
	})
}

// Two clients in one process share nothing, even if their objects have the same UIDs and versions.
func TestMemory_ClientsDoNotMeet(t *testing.T) {
	for name, made := range map[string]func(client.WithWatch) client.Client{
		"fake clients, which Go cannot compare": func(c client.WithWatch) client.Client { return c },
		"clients that are pointers":             func(c client.WithWatch) client.Client { return &pointer{c} },
	} {
		t.Run(name, func(t *testing.T) {
			key := client.ObjectKeyFromObject(newCell(0))
			holding := func(phase string) client.Client {
				cell := newCell(0)
				cell.Status.Phase = phase
				return made(newFake(t, cell))
			}
			first, second := holding("Ready"), holding("Pending")
			cell := &v1.Cell{}
			mustNot(t, v1status.NewCellStatusClient(first, first).Get(t.Context(), key, cell))
			mustNot(t, second.Get(t.Context(), key, cell))
			cell.Status.Phase = "Ready"
			_, err := v1status.NewCellStatusClient(second, second).Flush(t.Context(), cell)
			mustNot(t, err)
			mustNot(t, second.Get(t.Context(), key, cell))
			if cell.Status.Phase != "Ready" {
				t.Error("the base of the other client's object was found, and the edit is lost")
			}
		})
	}
}

// The clients that were used last are known, whichever of them was used first.
func TestMemory_OfTheLastClients(t *testing.T) {
	const known = 8
	clients := make([]client.Client, known+1)
	for i := range clients {
		clients[i] = &pointer{newFake(t, newCell(0))}
	}
	key := client.ObjectKeyFromObject(newCell(0))
	// The base is remembered if a Flush of an object that was read before needs no read.
	read := func(c client.Client) *v1.Cell {
		cell := &v1.Cell{}
		mustNot(t, v1status.NewCellStatusClient(c, patcher.NoLiveReader, patcher.CacheIsShared()).Get(t.Context(), key, cell))
		return cell
	}
	isKnown := func(c client.Client, cell *v1.Cell) bool {
		_, err := v1status.NewCellStatusClient(c, patcher.NoLiveReader, patcher.CacheIsShared()).Flush(t.Context(), cell)
		return err == nil
	}
	cells := make([]*v1.Cell, len(clients))
	for i := range known {
		cells[i] = read(clients[i])
	}
	for i := range known {
		if !isKnown(clients[i], cells[i]) {
			t.Errorf("client %d of %d is forgotten", i, known)
		}
	}
	cells[known] = read(clients[known])
	for i, cell := range slices.Backward(cells) {
		if got := isKnown(clients[i], cell); got != (i > 0) {
			t.Errorf("after one more client, client %d is known: %v", i, got)
		}
	}
}
