package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
)

// effect is what a call of an outside system does. Its caller runs it, when the scheduler says so.
type effect struct {
	name   string
	act    func() (result string)
	begin  chan struct{}
	ended  chan struct{}
	result string
}

// Outside makes a call of an outside system a step of the schedule that ctx belongs to. Act does what the call does, in the
// caller's goroutine and at most once, and returns what a report shows of its result. An error means that the caller sees a
// timeout, whether or not the call took effect. Outside of a schedule the call is made at once.
func Outside(ctx context.Context, name string, act func() string) error {
	if f, ok := ctx.Value(foreignKey{}).(*World); ok {
		f.makeOutsideCall(func() { act() })
		return nil
	}
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		if w := worldOfBubble(); w != nil {
			return w.outsideWithoutContext(name, act)
		}
		act()
		return nil
	}
	w := r.c.proc.w
	if w.free {
		w.outside.Lock()
		defer w.outside.Unlock()
		act()
		return nil
	}
	return r.c.park(ctx, newOutsideCall(name, act))
}

func newOutsideCall(name string, act func() string) *call {
	return &call{verb: "call", outside: &effect{name: name, act: act, begin: make(chan struct{}), ended: make(chan struct{})}}
}

// system is the part of the name before the first dot or space, as in "cloud.Create" and "cloud POST /v1/machines".
func (e *effect) system() string {
	return e.name[:strings.IndexAny(e.name+".", ". ")]
}

// await runs the effect if the scheduler wants it, before the call itself is done.
func (e *effect) await(done <-chan struct{}) {
	select {
	case <-done:
	case <-e.begin:
		defer close(e.ended) // also if the effect panics
		e.result = e.act()
	}
}

// outsideLocation is one for all outside systems: what a fake of one shares with another cannot be known.
const outsideLocation = "outside"

// performOutside lets the caller run the effect. API calls that it makes belong to the step.
func (w *World) performOutside(c *call, way string) {
	w.makeOutsideCall(func() {
		close(c.outside.begin)
		w.awaitEffect(c)
	})
	w.digest(c.outside.result)
	if way == landed {
		c.err, c.run.faulted = w.timeout(), true
	}
}

// makeOutsideCall notes what a call of an outside system touches and judges the model after it.
func (w *World) makeOutsideCall(act func()) {
	restore := w.answerAtOnce()
	act()
	restore()
	w.touch(schedule.Write, outsideLocation)
	if w.cfg.OrderedWrites {
		w.touch(schedule.Write, "order")
	}
	if w.cfg.OnOutside != nil {
		w.OrderSeen = true // what is judged after a call sees the order of calls and commits
		w.judge(func() *Violation { return w.cfg.OnOutside(w) })
	}
}

// awaitEffect waits for the end of an effect, and lets time pass if it sleeps.
func (w *World) awaitEffect(c *call) {
	for _, d := range append([]time.Duration{0}, ladder...) {
		time.Sleep(d)
		synctest.Wait()
		select {
		case <-c.outside.ended:
			return
		default:
		}
	}
	w.fail(&Violation{Invariant: "blocked", Broken: true,
		Detail: fmt.Sprintf("the outside call %s never ends: what it waits for is outside the model", c.outside.name)})
}

var errNoContext = errors.New("expected the context that Reconcile received, or one derived from it")

// outsideWithoutContext reports a call that the schedule cannot place.
func (w *World) outsideWithoutContext(name string, act func() string) error {
	if w.direct {
		act()
		return nil
	}
	w.mu.Lock()
	w.unfit = fmt.Sprintf("call %s: %v; found another one, so that the call cannot be a step", name, errNoContext)
	w.mu.Unlock()
	return errNoContext
}

// worlds are the schedules that run now, by their bubble.
var worlds sync.Map

func worldOfBubble() *World {
	w, _ := worlds.Load(Bubble())
	found, _ := w.(*World)
	return found
}
