package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// The contexts of reconciles and of foreign steps carry the run and the world that they belong to.
type (
	runKey     struct{}
	foreignKey struct{}
)

// start takes a key off the queue and runs its reconcile up to the first call, which follows at once: an event that
// came in between would only cause a reconcile more.
func (w *World) start(c *controller, key requestKey) {
	w.own(c.proc)
	w.touch(schedule.Write, c.location(key)...)
	w.touch(schedule.Write, "slot", c.proc.name, c.name)
	w.step.Slot = c.freed
	w.causedByOne(c.queue[key])
	delete(c.queue, key)
	c.proc.rested = false
	w.begun = w.launch(c, key)
	if w.cfg.Record {
		w.record.Call, w.record.Who = "reconcile "+key.String()+" begins", c.who()
		w.record.Hidden = true
	}
}

func newRun(c *controller, key requestKey) *run {
	return &run{c: c, key: key, thread: c.thread(key), reads: map[sim.Key]map[string]any{}}
}

func (w *World) launch(c *controller, key requestKey) *run {
	w.reconciles++
	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), logr.Discard()))
	r := newRun(c, key)
	w.launched++
	r.cancel, r.number = cancel, w.launched
	ctx = context.WithValue(ctx, runKey{}, r)
	c.running = r
	go func() {
		defer func() {
			if p := recover(); p != nil {
				// As the builder does by default: recovered, and an error like any other.
				r.err, r.panicked = fmt.Errorf("panic: %v [recovered]", p), true
			}
			w.mu.Lock()
			r.finished = true
			w.mu.Unlock()
		}()
		r.result, r.err = c.rec.Reconcile(ctx, reconcile.Request{NamespacedName: key})
	}()
	return r
}

// reap handles the results of reconciles that have ended, as controller-runtime does, and names new calls.
func (w *World) reap() {
	for _, p := range w.processes {
		for _, c := range p.controllers {
			r := c.running
			if r == nil {
				continue
			}
			if r.finished {
				w.finish(r)
				continue
			}
			w.nameCalls(r)
		}
	}
}

func (w *World) finish(r *run) {
	c := r.c
	r.cancel()
	c.running, c.freed = nil, w.now()-1
	if r.panicked && w.panicked == "" {
		w.panicked = fmt.Sprintf("%s, reconcile of %s: %v", c.who(), r.key, r.err)
	}
	w.countEnd(r)
	switch {
	case r.err != nil:
		if !errors.Is(r.err, reconcile.TerminalError(nil)) {
			c.enqueueRateLimited(r.key)
		}
	case r.result.RequeueAfter > 0:
		delete(c.errors, r.key)
		c.enqueueAfter(r.key, r.result.RequeueAfter)
	case r.result.Requeue: //nolint:staticcheck // deprecated, and still in use
		c.enqueueRateLimited(r.key)
	default:
		delete(c.errors, r.key)
	}
	if w.cfg.Record && len(w.Records) > 0 {
		w.Records[len(w.Records)-1].Answer += r.ending()
	}
}

func (r *run) ending() string {
	switch {
	case r.panicked:
		return "; reconcile panics"
	case r.err != nil:
		return "; reconcile fails"
	case r.result.RequeueAfter > 0:
		return fmt.Sprintf("; reconcile ends, again in %s", r.result.RequeueAfter.Round(time.Second))
	}
	return "; reconcile ends"
}

func (c *controller) who() string {
	if len(c.proc.controllers) == 1 {
		return c.proc.name
	}
	return c.proc.name + " " + c.name
}

// fire lets a timer end, and the key is queued. The clock moves there, unless the timer ends early: then two schedules that differ in
// the order of independent steps do not differ in the clock.
func (w *World) fire(c *controller, key requestKey, early bool) {
	w.own(c.proc)
	w.touch(schedule.Write, c.timerLocation(key)...)
	w.causedByOne(c.timedBy[key])
	deadline := c.timers[key]
	delete(c.timers, key)
	delete(c.timedBy, key)
	c.fired[key]++
	if d := deadline - w.clock; d > 0 && !early {
		time.Sleep(d)
		w.clock, w.reconciles = deadline, 0
	}
	c.enqueue(key)
	if w.cfg.Record {
		w.record.Who, w.record.Call = c.who(), "timer of "+key.String()+" ends"
	}
}

// atQuiet judges what must hold at last. Queues and deliveries are empty; there was no free reconcile.
func (w *World) atQuiet() {
	if r := w.stuckRun(); r != nil {
		w.fail(&Violation{Invariant: "blocked", Broken: true, Detail: w.describeStuck(r)})
		return
	}
	if w.cfg.OnQuiet != nil {
		w.judge(func() *Violation { return w.cfg.OnQuiet(w) })
	}
	if w.cfg.Probe && w.violation == nil {
		w.probe()
	}
}

func (w *World) stuckRun() *run {
	for _, p := range w.processes {
		for _, c := range p.controllers {
			if c.running != nil {
				return c.running
			}
		}
	}
	return nil
}

// probe runs one more reconcile a key, alone, and expects no write.
func (w *World) probe() {
	for _, p := range w.processes {
		for _, c := range p.controllers {
			for _, key := range w.keysOf(c) {
				if w.probeKey(c, key); w.violation != nil {
					return
				}
			}
		}
	}
}

func (w *World) probeKey(c *controller, key requestKey) {
	before := len(w.committed)
	w.begin(c.thread(key), &Record{Who: c.who(), Call: "one more reconcile of " + key.String()})
	r := w.launch(c, key)
	w.end()
	for range 1000 {
		w.settle()
		if r.finished {
			break
		}
		if len(r.parked) == 0 {
			w.fail(&Violation{Invariant: "blocked", Broken: true, Detail: w.describeStuck(r)})
			return
		}
		if err := w.doCall(r.parked[0], 0); err != nil {
			return
		}
		if len(w.committed) > before {
			w.fail(&Violation{Invariant: "EventuallyQuiescent",
				Detail: fmt.Sprintf("%s: one more reconcile of %s wrote, although everything was quiet", c.who(), key)})
			return
		}
	}
}

func (w *World) keysOf(c *controller) []requestKey {
	keys := map[requestKey]bool{}
	for _, key := range w.Server.Keys() {
		if c.cfg.For != nil && key.Kind == c.cfg.For.GVK.GroupKind() {
			keys[key.NamespacedName()] = true
		}
	}
	return sortedKeys(keys)
}

// Panicked tells of the first reconcile that panicked.
func (w *World) Panicked() string { return w.panicked }
