package world

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// World is one schedule while it runs.
type World struct {
	Server  *sim.Server
	Records []Record
	// OrderSeen is set when something depended on the order of writes to different objects.
	OrderSeen bool

	cfg       Config
	processes []*process
	writers   []*writer
	views     map[viewKey]any
	events    map[schema.GroupKind][]int // positions in the server's log
	committed []commitNote               // one for each commit

	mu         sync.Mutex // guards what goroutines of reconciles touch: parked calls and the end of runs
	direct     bool       // calls are answered at once: while reconcilers are built
	free       bool       // calls are answered at once, to all goroutines: for the race detector
	steps      []schedule.Step
	step       *schedule.Step
	at         int // the index of step
	record     *Record
	begun      *run // the reconcile that the last step began
	crashes    int
	timeouts   int
	clock      time.Duration // since the start, by the timers that ended: it moves when nothing else is left to do
	launched   int           // reconciles since the start
	reconciles int           // since the clock moved
	violation  *Violation
	panicked   string
	tallies    map[string]Tally
	last       map[string]*run              // the last reconcile of each key
	failed     map[string]map[string]string // by key of a controller: outside calls that failed and have not succeeded since
	unfit      string                       // what was found that cannot be explored
	waiting    map[string]int               // in a fair schedule: since when each thread could run
	outside    sync.Mutex                   // serializes outside calls of a free run
}

// commitNote is what the world knows of a commit beyond the store: who wrote it and what that writer had read.
type commitNote struct {
	Step   int // index of the step, -1 for what was there before the test
	Writer string
	Read   map[string]any // the writer's last read of the object before this write; nil if none
	First  map[string]any // its first read of the object in the same reconcile
	Locked bool           // the request carried a resourceVersion
	Seen   int64          // the newest generation of the object that the writer's reconcile had asked for; 0 if none
	Known  []sim.Key      // the objects that the writer's reconcile had seen
	Failed string         // an outside call for the same key that failed and has not succeeded since
	Time   time.Time
	ByRun  bool // the writer is a reconcile
	Run    int  // the number of that reconcile
}

// New builds the processes. Nothing has run yet.
func New(cfg Config) (*World, error) {
	w := &World{
		cfg: cfg, views: map[viewKey]any{}, events: map[schema.GroupKind][]int{},
		crashes: cfg.Crashes, timeouts: cfg.Timeouts,
	}
	if bubble := Bubble(); bubble != 0 {
		worlds.Store(bubble, w)
	}
	w.Server = sim.New(cfg.Catalog, time.Now)
	w.Server.StartAt(versionBase)
	for _, obj := range cfg.Objects {
		if err := w.Server.Seed(obj); err != nil {
			return nil, err
		}
	}
	w.begin("", nil)
	w.at = -1 // what is there at first follows from no step
	w.noteCommits(w.Server.Log(), commitNote{Step: -1})
	for i := range cfg.Replicas {
		p, err := w.newProcess(i+1, nil)
		if err != nil {
			return nil, err
		}
		w.processes = append(w.processes, p)
	}
	w.step = nil
	w.buildWriters()
	return w, nil
}

// Run lets the chooser order the steps until nothing is left to do, an invariant is violated, or the chooser stops.
func (w *World) Run(choose schedule.Chooser) schedule.Verdict {
	w.settle()
	for w.violation == nil {
		enabled := w.enabled()
		if len(enabled) == 0 {
			w.atQuiet()
			break
		}
		choice, ok := choose(enabled, w.steps)
		if !ok {
			return schedule.Verdict{Cut: true}
		}
		if err := w.do(choice); err != nil {
			w.fail(&Violation{Invariant: "replay", Detail: err.Error(), Broken: true})
		}
	}
	return w.verdict()
}

// Steps are the steps that ran.
func (w *World) Steps() []schedule.Step { return w.steps }

// Violation is what was found, or nil.
func (w *World) Violation() *Violation { return w.violation }

// Notes tells of each commit of the server's log who wrote it.
func (w *World) Notes() []commitNote { return w.committed }

func (w *World) verdict() schedule.Verdict {
	if w.violation == nil {
		return schedule.Verdict{}
	}
	return schedule.Verdict{Invariant: w.violation.Invariant, Detail: w.violation.Detail, Broken: w.violation.Broken}
}

func (w *World) fail(v *Violation) {
	if w.violation == nil && v != nil {
		w.violation = v
	}
}

// judge runs what looks at the model from outside of it: calls that it makes are no steps.
func (w *World) judge(look func() *Violation) {
	defer w.answerAtOnce()()
	w.fail(look())
}

// begin opens a step; what is touched until end belongs to it.
func (w *World) begin(thread string, record *Record) {
	w.step = &schedule.Step{Choice: schedule.Choice{Thread: thread}, Slot: -1}
	w.at = len(w.steps)
	w.record = record
}

func (w *World) touch(mode schedule.Mode, parts ...string) {
	if w.step != nil {
		w.step.Touched = append(w.step.Touched, schedule.Access{Loc: strings.Join(parts, "|"), Mode: mode})
	}
}

// causedBy notes a step without which the current one could not run.
func (w *World) causedBy(step int) {
	if step >= 0 && w.step != nil {
		w.step.Causes = append(w.step.Causes, step)
	}
}

// causedByOne notes the only step that made the current one possible. Of several any would have done, and none is a cause.
func (w *World) causedByOne(steps []int) {
	if len(steps) == 1 {
		w.causedBy(steps[0])
	}
}

// digest folds what was asked and answered into the step, so that a model that is not deterministic shows.
func (w *World) digest(parts ...any) {
	h := fnv.New64a()
	fmt.Fprint(h, w.step.Digest)
	for _, part := range parts {
		if b, ok := part.([]byte); ok {
			_, _ = h.Write(b)
			continue
		}
		fmt.Fprint(h, part, "|")
	}
	w.step.Digest = h.Sum64()
}

// now is the index of the current step, or of the last one.
func (w *World) now() int { return len(w.steps) }

// settle waits until every goroutine rests: at the gate, or at its end. One that sleeps gets the time it sleeps for;
// that is no step, for nothing but the clock sees it.
func (w *World) settle() {
	for {
		synctest.Wait()
		w.reap()
		if !w.anyBusy() {
			return
		}
		if !w.wake() {
			w.markWaiting()
			return
		}
	}
}

func (w *World) wake() bool {
	before := w.busyRuns()
	for _, d := range ladder {
		time.Sleep(d)
		synctest.Wait()
		if len(w.busyRuns()) < len(before) {
			return true
		}
	}
	return false
}

func (w *World) markWaiting() {
	for _, r := range w.busyRuns() {
		r.waiting = true
	}
}

func (w *World) anyBusy() bool { return len(w.busyRuns()) > 0 }

// busyRuns are the reconciles that neither wait at the gate nor have ended nor are known to wait for another one.
func (w *World) busyRuns() []*run {
	w.mu.Lock()
	defer w.mu.Unlock()
	var busy []*run
	for _, p := range w.processes {
		for _, c := range p.controllers {
			if r := c.running; r != nil && !r.finished && len(r.parked) == 0 && !r.waiting {
				busy = append(busy, r)
			}
		}
	}
	return busy
}

// Close ends every goroutine of the schedule: clients go dead, and each call unwinds its goroutine.
func (w *World) Close() {
	defer worlds.Delete(Bubble())
	for _, p := range w.processes {
		w.kill(p)
	}
	synctest.Wait()
}
