package schedule

import (
	"fmt"
	"slices"
)

// Limits bound an exploration.
type Limits struct {
	Schedules int         // 0 is no limit
	Stop      func() bool // asked before each schedule
	Grace     int         // how many more steps are run after the first failure, to tell how rare failures are
	Shard     Shard
}

// Shard is one part of an exploration. The parts together are the whole: each follows every order of the first steps, and goes on
// from every Count-th of them. The zero Shard is the whole.
type Shard struct{ Index, Count int }

// shardDepth is how many steps shards are divided by. There every order is followed, whatever the reduction.
const shardDepth = 6

// Failure is a schedule that violates an invariant.
type Failure struct {
	Choices []Choice
	Verdict Verdict
}

// Result is what an exploration found.
type Result struct {
	Schedules  int // that ran to their end
	Pruned     int // that were cut because they only repeat others
	Failing    int
	Exhaustive bool
	First      *Failure
}

// Explore runs every schedule that differs from the others in the order of dependent steps: dynamic partial-order
// reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order
// reduction, 2014). Without reduction it runs every order of every step.
func Explore(run Runner, limits Limits, reduce bool) Result {
	e := &explorer{run: run, limits: limits, reduce: reduce}
	return e.explore()
}

type explorer struct {
	run    Runner
	limits Limits
	reduce bool
	stack  []*node
	result Result
	broken string // the model did not do the same in a repeated prefix
	begun  int    // how many orders of the first steps there were so far
}

// node is a point of choice on the current path.
type node struct {
	enabled   []Action
	sleep     map[string]touches
	backtrack map[string]bool
	done      map[string]bool
	touched   map[string]touches // what the steps that were tried here touched, whatever their outcome
	chosen    Choice
	digest    uint64
	shared    bool // all shards pass here
}

// touches is what one step touched over all its outcomes, with what is glued to it.
type touches struct {
	accesses []Access
	barrier  bool
}

func (e *explorer) explore() Result {
	for !e.exhausted() {
		fixed := len(e.stack)
		steps, verdict := e.run(e.chooser())
		e.check(steps, fixed)
		if e.broken != "" {
			verdict = Verdict{Invariant: "deterministic", Detail: e.broken, Broken: true}
		}
		e.count(steps, verdict)
		if verdict.Broken {
			return e.result
		}
		if e.reduce {
			e.addRaces(steps, fixed-1)
		}
		if !e.advance() {
			e.result.Exhaustive = true
			break
		}
	}
	return e.result
}

func (e *explorer) exhausted() bool {
	r := &e.result
	if r.First != nil && e.limits.Grace <= 0 {
		return true
	}
	return e.limits.Schedules > 0 && r.Schedules+r.Pruned >= e.limits.Schedules || e.limits.Stop != nil && e.limits.Stop()
}

func (e *explorer) count(steps []Step, verdict Verdict) {
	r := &e.result
	if r.First != nil {
		e.limits.Grace -= len(steps)
	}
	if verdict.Cut {
		r.Pruned++
		return
	}
	r.Schedules++
	if verdict.Failed() {
		r.Failing++
		if r.First == nil {
			r.First = &Failure{Choices: Choices(steps), Verdict: verdict}
		}
	}
}

// Choices are the choices that a schedule made.
func Choices(steps []Step) []Choice {
	out := make([]Choice, len(steps))
	for i, s := range steps {
		out[i] = s.Choice
	}
	return out
}

// chooser repeats the choices on the stack, then goes on by the plain schedule, past what sleeps.
func (e *explorer) chooser() Chooser {
	depth := 0
	return func(enabled []Action, ran []Step) (Choice, bool) {
		at := depth
		depth++
		if at < len(e.stack) {
			return e.repeat(at, enabled)
		}
		n := &node{enabled: enabled, backtrack: map[string]bool{}, done: map[string]bool{}, touched: map[string]touches{}}
		n.shared = e.shared(at, enabled)
		if !n.shared && at > 0 && e.stack[at-1].shared {
			if e.begun++; e.begun%e.limits.Shard.Count != e.limits.Shard.Index-1 {
				return Choice{}, false
			}
		}
		if e.reduce {
			n.sleep = e.asleep(at, ran)
		}
		thread, ok := n.pick(ran)
		if !ok {
			return Choice{}, false
		}
		n.chosen = Choice{Thread: thread}
		n.backtrack[thread] = true
		if !e.reduce || n.shared || slices.ContainsFunc(enabled, func(a Action) bool { return a.Idle }) {
			for _, a := range enabled {
				n.backtrack[a.Thread] = true
			}
		}
		e.stack = append(e.stack, n)
		return n.chosen, true
	}
}

// shared reports whether a node belongs to the first steps, which all shards follow. What is glued to one of them does too.
func (e *explorer) shared(at int, enabled []Action) bool {
	if e.limits.Shard.Count <= 1 {
		return false
	}
	return at < shardDepth || e.stack[at-1].shared && enabled[0].Glued
}

func (e *explorer) repeat(at int, enabled []Action) (Choice, bool) {
	n := e.stack[at]
	if !sameThreads(n.enabled, enabled) {
		e.broken = fmt.Sprintf("step %d: the same choices led to other possible steps than before: %s, then %s", at+1, threads(n.enabled), threads(enabled))
		return Choice{}, false
	}
	return n.chosen, true
}

func sameThreads(a, b []Action) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Thread != b[i].Thread || len(a[i].Outcomes) != len(b[i].Outcomes) {
			return false
		}
	}
	return true
}

func threads(actions []Action) string {
	out := ""
	for i, a := range actions {
		if i > 0 {
			out += ", "
		}
		out += a.Thread
	}
	return out
}

// check holds repeated steps against what they did before.
func (e *explorer) check(steps []Step, fixed int) {
	for i := range steps {
		if i >= len(e.stack) {
			return
		}
		n := e.stack[i]
		if i < fixed-1 && n.digest != steps[i].Digest && e.broken == "" {
			e.broken = fmt.Sprintf("step %d (%s): after the same choices it asked, wrote or was answered something else than before", i+1, steps[i].Thread)
		}
		n.digest = steps[i].Digest
		n.note(steps, i)
		if i > 0 && n.enabled[0].Glued {
			e.stack[i-1].note(steps, i)
		}
	}
}

// note adds what step i touched to what is known of the thread that was chosen here.
func (n *node) note(steps []Step, i int) {
	thread := n.chosen.Thread
	known := n.touched[thread]
	for _, a := range steps[i].Touched {
		if !slices.Contains(known.accesses, a) {
			known.accesses = append(known.accesses, a)
		}
	}
	known.barrier = known.barrier || steps[i].Barrier
	n.touched[thread] = known
}

// asleep is what need not run first here, because its being first was tried at an earlier node and nothing since depends on it.
// What it would do here is what it did there.
func (e *explorer) asleep(at int, ran []Step) map[string]touches {
	if at == 0 {
		return nil
	}
	parent, step := e.stack[at-1], ran[at-1]
	sleep := map[string]touches{}
	keep := func(thread string, would touches) {
		if thread != step.Thread && !step.Barrier && !would.barrier && !Dependent(would.accesses, step.Touched) {
			sleep[thread] = would
		}
	}
	for thread, would := range parent.sleep {
		keep(thread, would)
	}
	for thread := range parent.done {
		keep(thread, parent.touched[thread])
	}
	return sleep
}

// pick prefers the thread that ran last, then the lowest rank.
func (n *node) pick(ran []Step) (string, bool) {
	if i, ok := plain(n.enabled, ran); ok {
		if _, sleeps := n.sleep[n.enabled[i].Thread]; !sleeps {
			return n.enabled[i].Thread, true
		}
	}
	for _, a := range n.enabled {
		if _, sleeps := n.sleep[a.Thread]; !sleeps {
			return a.Thread, true
		}
	}
	return "", false
}

// plain is the choice of the plain schedule: go on with the thread that ran last, else what comes first.
func plain(enabled []Action, ran []Step) (int, bool) {
	if len(ran) > 0 {
		for i, a := range enabled {
			if a.Rank == enabled[0].Rank && a.Thread == ran[len(ran)-1].Thread {
				return i, true
			}
		}
	}
	return 0, len(enabled) > 0
}

// advance moves to the next path: another outcome of the last step, else another thread there, else further up.
func (e *explorer) advance() bool {
	for len(e.stack) > 0 {
		n := e.stack[len(e.stack)-1]
		if n.chosen.Outcome+1 < n.outcomes(n.chosen.Thread) {
			n.chosen.Outcome++
			return true
		}
		n.done[n.chosen.Thread] = true
		for _, a := range n.enabled {
			_, sleeps := n.sleep[a.Thread]
			if n.backtrack[a.Thread] && !n.done[a.Thread] && !sleeps {
				n.chosen = Choice{Thread: a.Thread}
				return true
			}
		}
		e.stack = e.stack[:len(e.stack)-1]
	}
	return false
}

func (n *node) outcomes(thread string) int {
	for _, a := range n.enabled {
		if a.Thread == thread {
			return len(a.Outcomes)
		}
	}
	return 1
}

func (n *node) has(thread string) bool {
	for _, a := range n.enabled {
		if a.Thread == thread {
			return true
		}
	}
	return false
}
