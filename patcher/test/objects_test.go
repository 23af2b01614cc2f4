package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// landed expects that a Flush of cell by statuses sends one patch that carries the phase and nothing else.
func (b *bed) landed(statuses *v1status.CellStatusClient, cell *v1.Cell) {
	b.Helper()
	version := cell.ResourceVersion
	cell.Status.Phase = "Mine"
	sent := b.wire.during(func() {
		if result, err := statuses.Flush(b.ctx, cell); err != nil || result != patcher.ResultPatched {
			b.Fatalf("Flush: %q, %v", result, err)
		}
	})
	want := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"status":{"phase":"Mine"}}`, version)
	if got := string(sent[len(sent)-1].Body); got != want {
		b.Errorf("sent %s, want %s", got, want)
	}
	if live := b.live(); live.Status.Phase != "Mine" || cell.ResourceVersion != live.ResourceVersion {
		b.Errorf("the server has %q at %s, the object %s", live.Status.Phase, live.ResourceVersion, cell.ResourceVersion)
	}
}

// S50: the base of an object that was passed along is the state of exactly its own UID and resourceVersion.
func TestS50_ObjectsThatArePassedAround(t *testing.T) {
	for _, row := range []struct {
		name string
		// read returns the object as one function got it, for another to write.
		read func(*bed, *v1status.CellStatusClient) *v1.Cell
	}{
		{"Get", func(b *bed, c *v1status.CellStatusClient) *v1.Cell {
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			return cell
		}},
		{"Get by another StatusClient over the same client", func(b *bed, _ *v1status.CellStatusClient) *v1.Cell {
			cell := &v1.Cell{}
			b.must(b.statuses().Get(b.ctx, b.key, cell))
			return cell
		}},
		{"Fetch", func(b *bed, c *v1status.CellStatusClient) *v1.Cell {
			cell, _, err := c.Fetch(b.ctx, b.key)
			b.must(err)
			return cell
		}},
		{"a read of the client's own", func(b *bed, _ *v1status.CellStatusClient) *v1.Cell { return b.live() }},
		{"a deep copy", func(b *bed, c *v1status.CellStatusClient) *v1.Cell {
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			return cell.DeepCopy()
		}},
		{"a copy by value", func(b *bed, c *v1status.CellStatusClient) *v1.Cell {
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			copied := *cell
			return &copied
		}},
		{"a list item", func(b *bed, _ *v1status.CellStatusClient) *v1.Cell {
			list := &v1.CellList{}
			b.must(b.wire.List(b.ctx, list, client.InNamespace(b.key.Namespace)))
			return &list.Items[0]
		}},
		{"what Create returned", func(b *bed, _ *v1status.CellStatusClient) *v1.Cell {
			b.must(b.wire.Delete(b.ctx, b.live()))
			cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: b.key.Name}}
			b.must(b.wire.Create(b.ctx, cell))
			return cell
		}},
		{"what an Update of a finalizer returned", func(b *bed, c *v1status.CellStatusClient) *v1.Cell {
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			addFinalizer(cell)
			b.must(b.wire.Update(b.ctx, cell))
			return cell
		}},
		{"what CreateOrUpdate returned", func(b *bed, _ *v1status.CellStatusClient) *v1.Cell {
			cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: b.key.Name}}
			_, err := controllerutil.CreateOrUpdate(b.ctx, b.wire, cell, func() error { cell.Spec.Image = "image:9"; return nil })
			b.must(err)
			return cell
		}},
	} {
		t.Run("rule: "+row.name, func(t *testing.T) {
			b := newBed(t)
			statuses := b.statuses()
			b.landed(statuses, row.read(b, statuses))
		})
		t.Run("rule: Patcher, "+row.name, func(t *testing.T) {
			b := newBed(t)
			statuses := b.statuses()
			cell := row.read(b, statuses)
			cell.Status.Phase = "Mine"
			p, err := statuses.Patcher(cell)
			b.must(err)
			b.flush(p, patcher.ResultPatched)
		})
		t.Run("rule: outdated, "+row.name, func(t *testing.T) {
			b := newBed(t)
			statuses := b.statuses()
			cell := row.read(b, statuses)
			b.forge(phase("Foreign"))
			cell.Status.Counter = 1
			var conflict *patcher.ConflictError
			if _, err := statuses.Flush(b.ctx, cell); !errors.As(err, &conflict) || !apierrors.IsConflict(err) {
				t.Errorf("Flush: %v", err)
			}
			if live := b.live().Status; live.Phase != "Foreign" || live.Counter != 0 {
				t.Errorf("the server has %+v", live)
			}
		})
	}
	t.Run("rule: several times, nothing changed in between sends nothing", func(t *testing.T) {
		b := newBed(t)
		statuses, cell := b.statuses(), &v1.Cell{}
		b.must(statuses.Get(b.ctx, b.key, cell))
		for i := range 3 {
			cell.Status.Counter++
			for _, want := range []int{1, 0} {
				sent := b.wire.during(func() {
					if _, err := statuses.Flush(b.ctx, cell); err != nil {
						t.Error(err)
					}
				})
				if len(sent) != want {
					t.Errorf("round %d: sent %v", i, sent)
				}
			}
		}
	})
	t.Run("rule: an object that was read before may be read into", func(t *testing.T) {
		b := newBed(t, func(s *v1.CellStatus) { s.Shares = map[string]v1.Share{"a": {Weight: 1}} })
		statuses, cell := b.statuses(), &v1.Cell{}
		b.must(statuses.Get(b.ctx, b.key, cell))
		held := cell.Status.Shares
		b.forge(func(s *v1.CellStatus) { s.Shares = map[string]v1.Share{"b": {Weight: 2}} })
		b.must(statuses.Get(b.ctx, b.key, cell))
		held["c"] = v1.Share{Weight: 3}
		if len(cell.Status.Shares) != 1 {
			t.Errorf("the status has %v, want what the server has", cell.Status.Shares)
		}
		b.landed(statuses, cell)
	})
	t.Run("rule: no resourceVersion, and 0, which some kinds take for no lock", func(t *testing.T) {
		b := newBed(t)
		for _, version := range []string{"", "0"} {
			cell := b.live()
			cell.ResourceVersion = version
			if _, err := b.statuses().Flush(b.ctx, cell); err == nil {
				t.Errorf("Flush of version %q succeeded", version)
			}
			if _, err := b.statuses().Patcher(cell); err == nil {
				t.Errorf("Patcher of version %q succeeded", version)
			}
			if _, err := b.statuses().For(cell); err == nil {
				t.Errorf("For of version %q succeeded", version)
			}
		}
	})
	t.Run("rule: items of a list", func(t *testing.T) {
		b := newBed(t)
		list := &v1.CellList{}
		b.must(b.wire.List(b.ctx, list, client.InNamespace(b.key.Namespace)))
		patchers, err := b.statuses().ForItems(list.Items)
		b.must(err)
		for i := range list.Items {
			list.Items[i].Status.Phase = "Mine"
		}
		for _, p := range patchers {
			b.flush(p, patcher.ResultPatched)
		}
		if got := b.live().Status.Phase; got != "Mine" {
			t.Errorf("phase %q", got)
		}
	})
	t.Run("control: For after the edit loses it", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		cell.Status.Phase = "Mine"
		p, err := b.statuses().For(cell)
		b.must(err)
		b.flush(p, patcher.ResultUnchanged)
		if got := b.live().Status.Phase; got != "" {
			t.Errorf("phase %q landed: the rule proves nothing", got)
		}
	})
	t.Run("control: a base that is read when the edit is there, and not by version, reverts another writer", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		cell.Status.Counter = 1
		b.forge(phase("Foreign"))
		base := b.live()
		cell.ResourceVersion = base.ResourceVersion
		b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		if got := b.live().Status.Phase; got != "" {
			t.Errorf("phase %q: the rule proves nothing", got)
		}
	})
}

// S50: what has no base, and what is done then.
func TestS50_WhereTheBaseMayBeReadFrom(t *testing.T) {
	t.Run("rule: from a cache that strips status, a live read would delete fields", func(t *testing.T) {
		b := newBed(t, phase("Kept"))
		stripped := stripping(b, func(c *v1.Cell) { c.Status.Phase = "" })
		statuses := v1status.NewCellStatusClient(stripped, b.wire, patcher.CacheIsTransformed())
		cell := &v1.Cell{}
		b.must(stripped.Get(b.ctx, b.key, cell))
		cell.Status.Counter = 1
		if result, err := statuses.Flush(b.ctx, cell); err != nil || result != patcher.ResultPatched {
			t.Fatalf("Flush: %q, %v", result, err)
		}
		if live := b.live().Status; live.Phase != "Kept" || live.Counter != 1 {
			t.Errorf("the server has %+v", live)
		}
		cell = b.live()
		cell.ResourceVersion += "0"
		if _, err := statuses.Flush(b.ctx, cell); !errors.Is(err, patcher.ErrNoBase) {
			t.Errorf("Flush of a version that the cache does not have: %v", err)
		}
	})
	t.Run("control: a live base deletes what the cache strips", func(t *testing.T) {
		b := newBed(t, phase("Kept"))
		cell := b.live()
		base := cell.DeepCopy()
		cell.Status.Phase, cell.Status.Counter = "", 1
		b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		if b.live().Status.Phase != "" {
			t.Error("it does not: the rule proves nothing")
		}
	})
	t.Run("rule: from a cache that is shared, the base is what was remembered, or a live read", func(t *testing.T) {
		b := newBed(t)
		c, cached := cacheOwned(b)
		statuses := v1status.NewCellStatusClient(c, b.wire, patcher.CacheIsShared())
		cell := &v1.Cell{}
		b.must(c.Get(b.ctx, b.key, cell))
		cached.Status.Phase, cell.Status.Phase = "Mine", "Mine" // the edit went into the cache
		if result, err := statuses.Flush(b.ctx, cell); err != nil || result != patcher.ResultPatched {
			t.Errorf("Flush: %q, %v: the edited cache was taken for the base", result, err)
		}
	})
	t.Run("rule: nowhere left to read from", func(t *testing.T) {
		b := newBed(t)
		statuses := v1status.NewCellStatusClient(b.wire, patcher.NoLiveReader, patcher.CacheIsShared())
		cell := b.live()
		if _, err := statuses.Flush(b.ctx, cell); !errors.Is(err, patcher.ErrNoBase) {
			t.Errorf("Flush: %v", err)
		}
		if _, err := statuses.Patcher(cell); !errors.Is(err, patcher.ErrNoBase) {
			t.Errorf("Patcher: %v", err)
		}
	})
	t.Run("rule: an object that was being deleted and is gone", func(t *testing.T) {
		b := newBed(t)
		b.mutate(addFinalizer)
		b.must(b.wire.Delete(b.ctx, b.live()))
		cell := b.live()
		b.mutate(func(c *v1.Cell) { c.Finalizers = nil })
		cell.Status.Phase = "Mine"
		if result, err := b.statuses().Flush(b.ctx, cell); err != nil || result != patcher.ResultGone {
			t.Errorf("Flush: %q, %v", result, err)
		}
	})
}

// stripping is a client whose reads come from a cache with a transform.
func stripping(b *bed, strip func(*v1.Cell)) client.Client {
	return interceptor.NewClient(b.wire, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			strip(obj.(*v1.Cell))
			return err
		},
	})
}

// S50: helpers that serve several kinds.
func TestS50_InterfacesOverKinds(t *testing.T) {
	b := newBed(t)
	c := patcher.Wrap(b.wire, patcher.Lock, v1status.Kinds()...).With(patcher.WithLiveReader(b.wire))
	var obj client.Object = b.live()
	obj.(*v1.Cell).Status.Phase = "Mine"
	if result, err := patcher.FlushObject(b.ctx, c, obj); err != nil || result != patcher.ResultPatched {
		t.Errorf("FlushObject: %q, %v", result, err)
	}
	if got := b.live().Status.Phase; got != "Mine" {
		t.Errorf("phase %q", got)
	}
	if _, err := patcher.FlushObject(b.ctx, b.wire, obj); err == nil {
		t.Error("a client that knows no kinds flushed")
	}
	if _, err := patcher.FlushObject(b.ctx, c, &metav1.PartialObjectMetadata{}); err == nil {
		t.Error("an object of an unknown kind was flushed")
	}
	_, p := b.fetch()
	var _ patcher.StatusPatcher = p
	var _ patcher.ConditionPatcher = p
	var names []string
	for _, kind := range v1status.Kinds() {
		names = append(names, kind.KindName())
	}
	if got := fmt.Sprint(names); got != "[Cell Dial Gauge Knob]" {
		t.Errorf("kinds %s", got)
	}
}
