package world

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// The plain schedule prefers what comes first here: nothing is stale for long, and timers end last.
const (
	rankCall = iota
	rankDelivery
	rankStart
	rankForeign
	rankTimer
)

// earlyLimit is how long a timer may be to end while other steps are possible: as long as a call may take.
const earlyLimit = 30 * time.Second

// writer is a foreign writer: its steps come in order.
type writer struct {
	name  string
	steps []Foreign
	next  int
}

func (w *World) buildWriters() {
	for _, f := range w.cfg.Foreign {
		i := slices.IndexFunc(w.writers, func(x *writer) bool { return x.name == f.Writer })
		if i < 0 {
			i = len(w.writers)
			w.writers = append(w.writers, &writer{name: f.Writer})
		}
		w.writers[i].steps = append(w.writers[i].steps, f)
	}
}

// enabled lists the steps that could run next, in an order that is the same in every run.
func (w *World) enabled() []schedule.Action {
	if r := w.begun; r != nil {
		if w.begun = nil; len(r.parked) == 1 && !r.c.proc.dead {
			actions := w.controllerActions(r.c)
			actions[0].Glued = true
			return actions
		}
	}
	var out []schedule.Action
	for _, p := range w.processes {
		for _, c := range p.controllers {
			out = append(out, w.controllerActions(c)...)
		}
		out = append(out, w.deliveryActions(p)...)
	}
	for _, x := range w.writers {
		if x.next < len(x.steps) {
			out = append(out, schedule.Action{Thread: "writer/" + x.name, Outcomes: one, Rank: rankForeign})
		}
	}
	out = append(out, w.timerActions(len(out) == 0)...)
	if len(out) == 0 {
		out = w.restActions()
	}
	slices.SortStableFunc(out, func(a, b schedule.Action) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return strings.Compare(a.Thread, b.Thread)
	})
	return w.fair(out)
}

var one = []string{ordinary}

// restActions let a process crash when nothing is left to do: what it only remembered is lost then. The ordinary outcome
// is that it stays up.
func (w *World) restActions() []schedule.Action {
	if w.crashes == 0 {
		return nil
	}
	for _, p := range w.processes {
		if !p.rested {
			return []schedule.Action{{Thread: p.name + " rests", Outcomes: []string{ordinary, crashAtRest}, Rank: rankTimer, Idle: true}}
		}
	}
	return nil
}

func (w *World) doRest(p *process, outcome int) {
	w.begin(p.name+" rests", &Record{Hidden: true})
	w.step.Outcome, w.step.Barrier = outcome, true
	p.rested = true
	if outcome != 0 {
		*w.record = Record{Who: p.name, Call: "rests", Answer: "the process crashes"}
		w.crashes--
		if err := w.crash(p); err != nil {
			w.fail(&Violation{Invariant: "model", Detail: err.Error(), Broken: true})
		}
	}
	w.end()
}

func (w *World) controllerActions(c *controller) []schedule.Action {
	if r := c.running; r != nil {
		var out []schedule.Action
		for _, parked := range r.parked {
			out = append(out, schedule.Action{Thread: parked.thread, Outcomes: w.outcomes(parked), Rank: rankCall})
		}
		return out
	}
	var out []schedule.Action
	for _, key := range sortedKeys(c.queue) {
		out = append(out, schedule.Action{Thread: c.thread(key), Outcomes: one, Rank: rankStart})
	}
	return out
}

func (w *World) deliveryActions(p *process) []schedule.Action {
	var out []schedule.Action
	for _, gk := range sortedKinds(p.caches) {
		c := p.caches[gk]
		if c.next == len(w.events[gk]) {
			continue
		}
		out = append(out, schedule.Action{Thread: deliveryThread(p, gk), Outcomes: one, Rank: rankDelivery})
	}
	return out
}

func deliveryThread(p *process, gk schema.GroupKind) string { return p.name + "<-" + gk.String() }

// timerActions: a short timer may end at any time, as long as it is one of the first of its key. Any other ends when nothing else
// is left to do: then time passes, to the timer that is due first.
func (w *World) timerActions(idle bool) []schedule.Action {
	var out []schedule.Action
	var first *schedule.Action
	due := time.Duration(math.MaxInt64)
	for _, p := range w.processes {
		for _, c := range p.controllers {
			for _, key := range sortedKeys(c.timers) {
				deadline := c.timers[key]
				a := schedule.Action{Thread: c.thread(key) + "@timer", Outcomes: one, Rank: rankTimer}
				switch early := c.endsEarly(key); {
				case early:
					out = append(out, a)
				case w.beyondHorizon(c, key):
					continue
				}
				if deadline < due {
					first, due = nil, deadline
					if !c.endsEarly(key) {
						a.Idle, first = true, &a
					}
				}
			}
		}
	}
	if idle && first != nil {
		out = append(out, *first)
	}
	return out
}

// endsEarly reports whether the timer of a key may end while other steps are possible.
func (c *controller) endsEarly(key requestKey) bool {
	w := c.proc.w
	return c.fired[key] < w.cfg.EarlyTimers && c.timers[key]-w.clock <= earlyLimit
}

// idleTimers is how many timers of one key end in a model that sets no horizon: enough for what waits for something that
// comes in the end, and an end for what polls for ever.
const idleTimers = 10

// beyondHorizon reports whether the timer of a key is not to end in this schedule.
func (w *World) beyondHorizon(c *controller, key requestKey) bool {
	if w.cfg.Horizon > 0 {
		return c.timers[key] > w.cfg.Horizon
	}
	return c.fired[key] >= idleTimers+w.cfg.EarlyTimers
}

// do runs a step that was enabled.
func (w *World) do(choice schedule.Choice) error {
	for _, p := range w.processes {
		if choice.Thread == p.name+" rests" {
			w.doRest(p, choice.Outcome)
			return nil
		}
		for _, c := range p.controllers {
			if done, err := w.doController(c, choice); done {
				return err
			}
		}
		for _, gk := range sortedKinds(p.caches) {
			if deliveryThread(p, gk) == choice.Thread && p.caches[gk].next < len(w.events[gk]) {
				w.begin(choice.Thread, &Record{})
				w.deliver(p, gk)
				w.end()
				return nil
			}
		}
	}
	for _, x := range w.writers {
		if "writer/"+x.name == choice.Thread && x.next < len(x.steps) {
			return w.doForeign(x)
		}
	}
	return fmt.Errorf("expected step %q to be possible, found that it is not: the token is of another model", choice.Thread)
}

func (w *World) doController(c *controller, choice schedule.Choice) (bool, error) {
	if r := c.running; r != nil {
		for _, parked := range r.parked {
			if parked.thread == choice.Thread {
				return true, w.doCall(parked, choice.Outcome)
			}
		}
	}
	for _, key := range sortedKeys(c.queue) {
		if c.running == nil && c.thread(key) == choice.Thread {
			if w.reconciles >= w.cfg.MaxReconciles {
				w.fail(&Violation{Invariant: "livelock", Detail: fmt.Sprintf("%d reconciles while no time passed, and still not quiet", w.reconciles)})
				return true, nil
			}
			w.begin(choice.Thread, &Record{})
			w.start(c, key)
			w.end()
			return true, nil
		}
	}
	for _, key := range sortedKeys(c.timers) {
		if c.thread(key)+"@timer" == choice.Thread {
			early := c.endsEarly(key)
			w.begin(choice.Thread, &Record{})
			w.step.Barrier = !early
			w.fire(c, key, early)
			w.end()
			return true, nil
		}
	}
	return false, nil
}

// doForeign runs a step of a foreign writer: all its calls at once.
func (w *World) doForeign(x *writer) error {
	f := x.steps[x.next]
	x.next++
	w.begin("writer/"+x.name, &Record{Who: x.name, Call: f.Name})
	reads := map[sim.Key]map[string]any{}
	c, err := w.cfg.Clients.foreign(w, func(_ *http.Request, r *sim.Request) (*sim.Answer, error) {
		before := len(w.Server.Log())
		answer := w.Server.Handle(r)
		w.touchRequest(r, answer)
		w.noteCommits(w.Server.Log()[before:], commitNote{Step: w.now(), Writer: "writer/" + x.name, Read: reads[r.Key()], Locked: carriesVersion(r.Body)})
		if answer.Err == nil && answer.Object["kind"] == r.Kind.GVK.Kind {
			reads[r.Key()] = answer.Object
		}
		w.digest(r.Verb, keyText(r.Key()), r.Body, answer.Code)
		return answer, nil
	})
	if err != nil {
		return err
	}
	w.record.Answer = "done"
	if err := f.Run(context.WithValue(context.Background(), foreignKey{}, w), c); err != nil {
		w.record.Answer = "failed: " + err.Error()
		if !ordinaryRefusal(err) {
			w.fail(&Violation{Invariant: "model", Detail: fmt.Sprintf("foreign step %q: %v", f.Name, err), Broken: true})
		}
	}
	w.end()
	return nil
}

// end closes the step; then every goroutine that it set free runs to its next call.
func (w *World) end() {
	w.steps = append(w.steps, *w.step)
	if w.cfg.Record {
		w.Records = append(w.Records, *w.record)
	}
	w.step, w.record = &w.steps[w.at], nil // the end of a reconcile belongs to the step that led there
	w.settle()
	w.step = nil
	if w.unfit != "" {
		w.fail(&Violation{Invariant: "model", Detail: w.unfit, Broken: true})
	}
}

func access(mode schedule.Mode, parts ...string) schedule.Access {
	return schedule.Access{Loc: strings.Join(parts, "|"), Mode: mode}
}
