package world

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// FreeRun lets the reconciles of all controllers run at once, as a manager would, for the race detector: at the gate,
// where one goroutine runs at a time, it sees no race. Nothing is judged. It must run outside a bubble.
func FreeRun(ctx context.Context, cfg Config, rounds int) error {
	cfg.Stale, cfg.OnCommit, cfg.OnOutside, cfg.OnQuiet = false, nil, nil, nil
	w, err := New(cfg)
	if err != nil {
		return err
	}
	w.free = true
	for range rounds {
		var work []func()
		for _, p := range w.processes {
			for _, c := range p.controllers {
				keys := sortedKeys(c.queue)
				c.queue = map[requestKey][]int{}
				work = append(work, func() { c.runFreely(ctx, keys) })
			}
		}
		var group sync.WaitGroup
		for _, f := range work {
			group.Go(f)
		}
		group.Wait()
	}
	return nil
}

func (c *controller) runFreely(ctx context.Context, keys []requestKey) {
	for _, key := range keys {
		func() {
			defer func() { _ = recover() }() // judged where schedules are explored
			r := newRun(c, key)
			ctx := context.WithValue(log.IntoContext(ctx, logr.Discard()), runKey{}, r)
			_, _ = c.rec.Reconcile(ctx, reconcile.Request{NamespacedName: key})
		}()
	}
}

// answerFreely answers a call at once, to whoever asks.
func (w *World) answerFreely(waiting *call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting.cached {
		return w.readCache(waiting)
	}
	before := len(w.Server.Log())
	waiting.answer = w.Server.Handle(waiting.r)
	w.noteCommits(w.Server.Log()[before:], commitNote{Step: -1})
	return nil
}
