package patchertest

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// outcome is how one schedule ended.
type outcome struct {
	steps     []schedule.Step
	verdict   schedule.Verdict
	violation *world.Violation
	stuck     string // the watchdog's finding
	world     *world.World
	focus     []string
}

// run runs one schedule in a bubble of its own.
func (e *explorer) run(choose schedule.Chooser) ([]schedule.Step, schedule.Verdict) {
	o := e.runBubble(choose, false)
	return o.steps, o.verdict
}

// record runs a schedule and keeps what a report needs.
func (e *explorer) record(choose schedule.Chooser) outcome { return e.runBubble(choose, true) }

// runBubble starts the bubble in a goroutine that can be given up: one that hangs cannot be stopped.
func (e *explorer) runBubble(choose schedule.Chooser, record bool) outcome {
	done := make(chan outcome, 1)
	never := make(chan struct{}) // not of the bubble: a wait for it keeps a broken bubble from spinning
	var progress, bubble atomic.Int64
	watched := func(enabled []schedule.Action, ran []schedule.Step) (schedule.Choice, bool) {
		progress.Add(1)
		return choose(enabled, ran)
	}
	go func() {
		var o outcome
		// After the bubble, not in it: its end takes the seeded randomness back.
		defer func() { done <- o }()
		synctest.Test(e.t, func(t *testing.T) {
			e.seedRandom(t)
			bubble.Store(world.Bubble())
			before := runtime.NumGoroutine()
			o = e.runWorld(watched, record)
			if leak := leftBehind(before); leak != "" {
				if o.violation == nil || !o.violation.Broken {
					o = broken("goroutine that never ends", leak)
				}
				done <- o
				<-never
			}
		})
	}()
	return e.watch(done, &progress, &bubble)
}

func (e *explorer) runWorld(choose schedule.Chooser, record bool) outcome {
	m := e.build()
	cfg, err := e.compile(&m)
	if err != nil {
		return broken("model", err.Error())
	}
	cfg.Record, cfg.Clients = record, &e.clients
	w, err := world.New(cfg)
	if err != nil {
		return broken("model", err.Error())
	}
	verdict := w.Run(choose)
	w.Close()
	e.ordersSeen = e.ordersSeen || w.OrderSeen
	e.tally(&m, w)
	o := outcome{steps: w.Steps(), verdict: verdict, violation: w.Violation(), world: w}
	if o.violation != nil {
		for _, invariant := range m.Invariants {
			if invariant.name == o.violation.Invariant {
				o.focus = invariant.focus
			}
		}
	}
	return o
}

// tally adds how the reconciles of a schedule ended to those of all.
func (e *explorer) tally(m *Model, w *world.World) {
	if e.tallies == nil {
		e.tallies = map[string]world.Tally{}
	}
	for _, c := range m.Controllers {
		t, more := e.tallies[c.Name], w.Tallies()[c.Name]
		t.Ended, t.Succeeded = t.Ended+more.Ended, t.Succeeded+more.Succeeded
		if more.LastError != "" {
			t.LastError = more.LastError
		}
		e.tallies[c.Name] = t
	}
}

func violationOf(invariant, detail string) *world.Violation {
	return &world.Violation{Invariant: invariant, Detail: detail}
}

func broken(invariant, detail string) outcome {
	v := &world.Violation{Invariant: invariant, Detail: detail, Broken: true}
	return outcome{violation: v, verdict: schedule.Verdict{Invariant: invariant, Detail: detail, Broken: true}}
}

// watch waits for a bubble, and names the cause if nothing moves in it for too long.
func (e *explorer) watch(done <-chan outcome, progress, bubble *atomic.Int64) outcome {
	last := int64(-1)
	timer := time.NewTimer(e.watchdog)
	defer timer.Stop()
	for {
		select {
		case o := <-done:
			return o
		case <-timer.C:
			now := progress.Load()
			if now == last {
				return broken("stuck", stuckCause(e.watchdog, bubble.Load()))
			}
			last = now
			timer.Reset(e.watchdog)
		}
	}
}

// stuckCause finds the goroutine of a bubble that is neither waiting in a way that the bubble can see nor done.
func stuckCause(after time.Duration, bubble int64) string {
	for _, g := range world.Goroutines() {
		if g.Bubble != bubble || strings.HasPrefix(g.State, "synctest.") || strings.Contains(g.Stack, "world.(*controller).park") || !strings.Contains(g.Stack, ".launch") {
			continue
		}
		return fmt.Sprintf("nothing moved for %s: a reconcile is in %q at %s; %s", after, g.State, g.Site, cure(g.State))
	}
	return fmt.Sprintf("nothing moved for %s, and no reconcile explains it: does building the model, or an invariant, wait for something?", after)
}

func cure(state string) string {
	switch {
	case strings.Contains(state, "Mutex"):
		return "a mutex that is held across an API call stops every other reconcile; hold it only around memory"
	case strings.Contains(state, "chan"), strings.Contains(state, "select"):
		return "a channel made outside New, such as a package variable, belongs to no schedule; make it in New"
	case strings.Contains(state, "running"), strings.Contains(state, "runnable"):
		return "it computes without end"
	}
	return "it waits for something outside the model: the network, a file, a process"
}

// leftBehind finds goroutines that the model started and that outlive it, after ten minutes of the fake clock.
func leftBehind(before int) string {
	if runtime.NumGoroutine() <= before {
		return ""
	}
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	if runtime.NumGoroutine() <= before {
		return ""
	}
	for _, g := range world.Goroutines() {
		if g.Bubble == world.Bubble() && !strings.Contains(g.Stack, "testing.tRunner") && !strings.Contains(g.Stack, "testing/synctest.") && !strings.Contains(g.Stack, "world.Goroutines") {
			return fmt.Sprintf("a goroutine is still in %q at %s after every reconcile has ended; stop it when the context of its reconcile is done", g.State, g.Site)
		}
	}
	return ""
}
