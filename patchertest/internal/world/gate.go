package world

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// call is one API call that waits at the gate.
type call struct {
	run    *run
	thread string
	parked int // the step during which it arrived
	verb   string
	kind   *sim.Kind // nil for a call of an outside system
	key    sim.Key

	outside *effect

	cached  bool
	out     client.Object
	list    client.ObjectList
	options client.ListOptions
	content map[string]any // what a cached get answered
	listed  int

	req  *http.Request
	r    *sim.Request
	body []byte

	answer *sim.Answer
	err    error
	done   chan struct{}
	site   []uintptr
}

// The ways a call can end. Those after ordinary are faults.
const (
	ordinary    = ""
	lost        = "timeout, not committed"
	landed      = "timeout, committed"
	crashBefore = "crash before"
	crashAfter  = "crash after"
	crashAtRest = "crash at rest"
)

// gate is where requests of a process's client arrive.
func (c *controller) gate(req *http.Request, r *sim.Request) (*sim.Answer, error) {
	c.proc.unwindIfDead()
	if w := c.proc.w; w.direct {
		return w.handleDirectly(r), nil
	}
	waiting := &call{verb: r.Verb, kind: r.Kind, key: r.Key(), req: req, r: r, body: r.Body}
	err := c.park(req.Context(), waiting)
	return waiting.answer, err
}

// park waits until the scheduler has answered. A dead process gets no answer: its goroutine is unwound.
func (c *controller) park(ctx context.Context, waiting *call) error {
	w := c.proc.w
	c.proc.unwindIfDead()
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.direct {
		waiting.run = newRun(c, requestKey{})
		return w.readCache(waiting)
	}
	if w.free {
		if waiting.run, _ = ctx.Value(runKey{}).(*run); waiting.run == nil {
			waiting.run = newRun(c, requestKey{})
		}
		return w.answerFreely(waiting)
	}
	waiting.done = make(chan struct{})
	if w.cfg.Record {
		waiting.site = callers()
	}
	w.mu.Lock()
	waiting.run, _ = ctx.Value(runKey{}).(*run)
	if waiting.run == nil || waiting.run.c != c {
		waiting.run = c.running
	}
	if waiting.run == nil {
		w.mu.Unlock()
		return fmt.Errorf("%s: a call to the API outside Reconcile: patchertest runs reconciles only; make the call from Reconcile", c.name)
	}
	waiting.run.waiting = false
	waiting.run.parked = append(waiting.run.parked, waiting)
	w.mu.Unlock()
	if waiting.outside != nil {
		waiting.outside.await(waiting.done)
	}
	<-waiting.done
	c.proc.unwindIfDead()
	return waiting.err
}

// handleDirectly lets a request through without a step of its own: one of a handler, of New, or of an outside system.
func (w *World) handleDirectly(r *sim.Request) *sim.Answer {
	before := len(w.Server.Log())
	answer := w.Server.Handle(r)
	w.touchRequest(r, answer)
	if commits := w.Server.Log()[before:]; len(commits) > 0 {
		w.noteCommits(commits, commitNote{Step: w.now(), Locked: carriesVersion(r.Body)})
	}
	return answer
}

// unwindIfDead ends the calling goroutine, through all that it deferred, if its process has crashed.
func (p *process) unwindIfDead() {
	p.w.mu.Lock()
	dead := p.dead
	p.w.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
}

// nameCalls gives each new call a thread. Calls that one reconcile makes at once are told apart by what they ask.
func (w *World) nameCalls(r *run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(r.parked) == 1 && r.parked[0].thread == "" {
		r.parked[0].thread, r.parked[0].parked = r.thread, w.now()-1
		return
	}
	slices.SortStableFunc(r.parked, func(a, b *call) int { return strings.Compare(a.text(), b.text()) })
	for i, c := range r.parked {
		if c.thread == "" {
			c.parked = w.now() - 1
			c.thread = fmt.Sprintf("%s#%d %s", r.thread, i, c.text())
		}
	}
}

// what names the target of a call: the key of an object, or what an outside call is named.
func (c *call) what() string {
	if c.outside != nil {
		return c.outside.name
	}
	return keyText(c.key)
}

func (c *call) text() string { return c.verb + " " + c.what() + " " + string(c.body) }

func (c *call) writes() bool { return c.r != nil && c.r.Writes() }

// acts reports whether the call can have an effect that outlives its process.
func (c *call) acts() bool { return c.outside != nil || c.writes() }

// outcomes are the ways in which the call may end, given what faults are left. A crash before a call differs from one
// after the call before it: what the reconciler did in between, to something that the model does not see, is done. After
// a read it is the same as the crash before the next call.
func (w *World) outcomes(c *call) []string {
	out := []string{ordinary}
	if w.timeouts > 0 && !c.cached {
		out = append(out, lost)
		if c.acts() {
			out = append(out, landed)
		}
	}
	if w.crashes > 0 {
		out = append(out, crashBefore)
		if c.acts() {
			out = append(out, crashAfter)
		}
	}
	return out
}

// doCall lets a call through the gate.
func (w *World) doCall(c *call, outcome int) error {
	ways := w.outcomes(c)
	if outcome >= len(ways) {
		return fmt.Errorf("call %s: expected one of %d outcomes, found %d: the token is of another model", c.text(), len(ways), outcome)
	}
	way := ways[outcome]
	if c.run.calls++; c.run.calls > maxCalls {
		w.fail(&Violation{Invariant: "livelock", Detail: fmt.Sprintf("the reconcile of %s made %d calls, and still has not ended", c.run.key, maxCalls)})
		return nil
	}
	w.begin(c.thread, &Record{Who: c.run.c.who(), Site: site(c.site)})
	w.step.Outcome = outcome
	w.own(c.run.c.proc)
	w.causedBy(c.parked)
	w.digest(c.verb, c.what(), c.body, way)
	switch {
	case way == crashBefore:
	case way == lost:
		c.err, c.run.faulted = w.timeout(), true
	case c.cached:
		c.err = w.readCache(c)
		w.digest(c.err)
	case c.outside != nil:
		w.performOutside(c, way)
	default:
		w.perform(c, way)
	}
	if c.outside != nil {
		w.noteOutside(c)
	}
	if way != crashBefore && way != crashAfter {
		c.run.noteFailure(c)
	}
	if w.cfg.Record {
		w.describe(c, way)
	}
	w.unpark(c, way)
	w.end()
	return nil
}

func (w *World) perform(c *call, way string) {
	before := len(w.Server.Log())
	prior := c.run.reads[c.key]
	c.answer = w.Server.Handle(c.r)
	w.touchRequest(c.r, c.answer)
	w.noteRead(c)
	w.noteCommits(w.Server.Log()[before:], c.run.note(w, c.key, commitNote{Step: w.now(), Writer: c.run.thread, Read: prior, Locked: carriesVersion(c.body)}))
	w.checkVersionsRead(c.body)
	w.digest(c.answer.Code)
	if way == landed {
		c.err, c.answer, c.run.faulted = w.timeout(), nil, true
	}
}

func (w *World) timeout() error {
	w.timeouts--
	return &sim.TimeoutError{URL: &url.URL{}}
}

// unpark lets the caller go on, or crashes its process.
func (w *World) unpark(c *call, way string) {
	if way == crashBefore || way == crashAfter {
		w.crashes--
		if err := w.crash(c.run.c.proc); err != nil {
			w.fail(&Violation{Invariant: "model", Detail: err.Error(), Broken: true})
		}
		return
	}
	w.mu.Lock()
	c.run.parked = slices.DeleteFunc(c.run.parked, func(other *call) bool { return other == c })
	w.mu.Unlock()
	close(c.done)
}

// touchRequest notes what a request touched, once its answer is known: a refused write has only read.
func (w *World) touchRequest(r *sim.Request, answer *sim.Answer) {
	if r.Verb == "list" || r.Verb == "deletecollection" {
		w.touch(schedule.Read, "kind", r.Kind.GVK.GroupKind().String())
		return
	}
	if len(answer.Commits) == 0 {
		w.touch(schedule.Read, "object", keyText(r.Key()))
	}
	if r.Verb == "create" && r.Name == "" {
		w.touch(schedule.Write, "generated name", r.Kind.GVK.GroupKind().String()) // which is no other's
	}
	if answer.Unsupported != "" && w.unfit == "" {
		w.unfit = answer.Unsupported
	}
}

// noteRead keeps what the writer knows: the answers it got.
func (w *World) noteRead(c *call) {
	if c.answer.Err != nil {
		return
	}
	if items, ok := c.answer.Object["items"].([]any); ok {
		for _, item := range items {
			content := item.(map[string]any)
			c.run.reads[keyOf(c.kind, content)] = content
			c.run.saw(keyOf(c.kind, content), content)
		}
		return
	}
	if c.answer.Object["kind"] == c.kind.GVK.Kind {
		c.run.reads[keyOf(c.kind, c.answer.Object)] = c.answer.Object
		if !c.writes() {
			c.run.saw(c.key, c.answer.Object)
		}
	}
}

// noteCommits tells the world of new commits: their events, their writer, and what the step touched.
func (w *World) noteCommits(commits []sim.Commit, note commitNote) {
	for _, commit := range commits {
		gk := commit.Key.Kind
		at := len(w.committed)
		w.events[gk] = append(w.events[gk], at)
		note.Time = time.Now()
		w.committed = append(w.committed, note)
		w.touch(schedule.Write, "object", keyText(commit.Key))
		w.touch(schedule.Add, "kind", gk.String())
		if w.cfg.Stale {
			w.touch(schedule.Write, "events", gk.String()) // caches learn of the objects of a kind in the order of their writes
		}
		if w.cfg.OrderedWrites {
			w.touch(schedule.Write, "order")
		}
		if !w.cfg.Stale {
			w.deliverAll()
		}
		if w.cfg.OnCommit != nil && note.Step >= 0 {
			w.judge(func() *Violation { return w.cfg.OnCommit(w, at) })
		}
	}
}

// deliverAll is what a model without stale reads does after each commit: every cache learns of it at once.
func (w *World) deliverAll() {
	for _, p := range w.processes {
		for _, gk := range sortedKinds(p.caches) {
			for p.caches[gk].next < len(w.events[gk]) {
				w.deliver(p, gk)
			}
		}
	}
}

func labelSet(m map[string]string) labels.Set { return m }

func notFound(kind *sim.Kind, name string) error {
	return apierrors.NewNotFound(kind.Resource().GroupResource(), name)
}
