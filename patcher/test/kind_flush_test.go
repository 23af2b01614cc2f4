package patcher_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// S50: a Kind flushes through any client, for code that has no StatusClient.
func TestS50_AKindFlushesThroughAnyClient(t *testing.T) {
	clients := map[string]func(b *bed) client.Client{
		"plain":   func(b *bed) client.Client { return b.wire },
		"wrapped": func(b *bed) client.Client { return patcher.Wrap(b.wire, patcher.Lock, v1status.Kinds()...) },
		"wrapped, with a live reader": func(b *bed) client.Client {
			return patcher.Wrap(b.wire, patcher.Lock, v1status.Kinds()...).With(patcher.WithLiveReader(b.wire))
		},
	}
	for name, over := range clients {
		t.Run(name+": rule: it writes what changed since the object was read", func(t *testing.T) {
			b := newBed(t, phase("Kept"))
			c := over(b)
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			cell.Status.Counter = 1
			b.must(v1status.CellKind.Flush(b.ctx, c, cell))
			cell.Status.Counter = 2
			b.must(v1status.CellKind.Flush(b.ctx, c, cell))
			if live := b.live().Status; live.Phase != "Kept" || live.Counter != 2 {
				t.Errorf("the server has %+v", live)
			}
		})
		t.Run(name+": rule: after an Update of the object", func(t *testing.T) {
			b := newBed(t)
			c := over(b)
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			cell.Finalizers = []string{"example.com/kept"}
			b.must(c.Update(b.ctx, cell))
			cell.Status.Counter = 1
			b.must(v1status.CellKind.Flush(b.ctx, c, cell))
			if live := b.live(); live.Status.Counter != 1 || len(live.Finalizers) != 1 {
				t.Errorf("the server has %+v", live)
			}
		})
		t.Run(name+": rule: an object that has changed since is a conflict, and nothing is written", func(t *testing.T) {
			b := newBed(t)
			c := over(b)
			cell := b.live()
			b.forge(phase("Foreign"))
			cell.Status.Counter = 1
			err := v1status.CellKind.Flush(b.ctx, c, cell)
			var conflict *patcher.ConflictError
			if !errors.As(err, &conflict) || !apierrors.IsConflict(err) {
				t.Errorf("Flush: %v, expected a conflict", err)
			}
			if live := b.live().Status; live.Counter != 0 || live.Phase != "Foreign" {
				t.Errorf("the server has %+v", live)
			}
		})
		t.Run(name+": rule: an object that is gone is a NotFound", func(t *testing.T) {
			b := newBed(t)
			c := over(b)
			cell := b.live()
			b.must(b.wire.Delete(b.ctx, b.live()))
			cell.Status.Counter = 1
			if err := v1status.CellKind.Flush(b.ctx, c, cell); !apierrors.IsNotFound(err) {
				t.Errorf("Flush: %v, expected a NotFound", err)
			}
		})
	}
	t.Run("rule: a cache that lags behind the object's own Create needs the wrapped client's memory", func(t *testing.T) {
		b := newBed(t)
		old := b.live()
		lagging := stripping(b, func(c *v1.Cell) { *c = *old.DeepCopy() })
		for name, c := range map[string]client.Client{"plain": lagging, "wrapped": patcher.Wrap(lagging, patcher.Lock, v1status.Kinds()...)} {
			cell := b.live()
			cell.Labels = map[string]string{"by": name}
			b.must(c.Update(b.ctx, cell))
			cell.Status.Phase = name
			err := v1status.CellKind.Flush(b.ctx, c, cell)
			if name == "plain" && !apierrors.IsConflict(err) || name == "wrapped" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := b.live().Status.Phase; got != "wrapped" {
			t.Errorf("phase %q", got)
		}
	})
}
