package world

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// process is one replica: a manager with its cache and controllers. After a crash another process takes its place.
type process struct {
	w           *World
	index       int
	life        int // how often it has crashed
	name        string
	caches      map[schema.GroupKind]*cache
	controllers []*controller
	dead        bool
	rested      bool // it has had its chance to crash at rest since its last reconcile
}

// controller is one controller in one process, with its queue. It has one worker, as the builder's default is.
type controller struct {
	cfg     *Controller
	proc    *process
	name    string
	client  client.Client
	rec     reconcile.Reconciler
	queue   map[requestKey][]int         // the steps that queued a key
	timers  map[requestKey]time.Duration // when they end, on World.clock
	timedBy map[requestKey][]int         // the steps that set a timer
	fired   map[requestKey]int           // how many timers of the key have ended
	errors  map[requestKey]int
	running *run
	freed   int // the step that freed the worker
}

// run is one reconcile.
type run struct {
	c        *controller
	key      requestKey
	thread   string
	cancel   context.CancelFunc
	parked   []*call
	finished bool
	waiting  bool // at rest, but neither at the gate nor asleep: it waits for another goroutine
	number   int  // counted over all reconciles of the schedule
	calls    int
	failures map[string]failure
	// generations are the newest ones that it asked for; what a write returned does not count.
	generations map[sim.Key]int64
	first       map[sim.Key]map[string]any
	result      reconcile.Result
	err         error
	panicked    bool
	faulted     bool // one of its calls was made to time out
	reads       map[sim.Key]map[string]any
}

func (w *World) newProcess(index int, before *process) (*process, error) {
	p := &process{w: w, index: index, name: fmt.Sprintf("replica %d", index), caches: map[schema.GroupKind]*cache{}}
	if before != nil {
		p.life = before.life + 1
	}
	for i := range w.cfg.Controllers {
		c, err := w.newController(p, &w.cfg.Controllers[i])
		if err != nil {
			return nil, err
		}
		p.controllers = append(p.controllers, c)
	}
	for _, c := range p.controllers {
		for _, source := range c.cfg.Sources {
			p.open(source.Kind, before)
		}
	}
	w.initialEvents(p)
	return p, nil
}

func (w *World) newController(p *process, cfg *Controller) (*controller, error) {
	c := &controller{
		cfg: cfg, proc: p, name: cfg.Name, freed: -1, queue: map[requestKey][]int{}, timedBy: map[requestKey][]int{}, timers: map[requestKey]time.Duration{},
		fired: map[requestKey]int{}, errors: map[requestKey]int{},
	}
	clients, err := w.cfg.Clients.get(w, c, p.life)
	if err != nil {
		return nil, err
	}
	clients.owner, c.client = c, clients.cached
	restore := w.answerAtOnce()
	// Code that remembers things by client must not meet, in this schedule, what it remembers of another one.
	c.rec = cfg.New(&ofLife{clients.cached, w.cfg.OnKind}, &ofLife{clients.live, nil})
	restore()
	if c.rec == nil {
		return nil, fmt.Errorf("controller %s: expected New to return a reconciler, found nil", cfg.Name)
	}
	return c, nil
}

// kill makes the process's clients dead, then unwinds its goroutines.
func (w *World) kill(p *process) {
	w.mu.Lock()
	p.dead = true
	for _, c := range p.controllers {
		if c.running == nil {
			continue
		}
		c.running.cancel()
		for _, parked := range c.running.parked {
			close(parked.done)
		}
		c.running.parked = nil
	}
	w.mu.Unlock()
}

// crash replaces the process by a fresh one. Its first list may be as old as what the dead one had seen.
func (w *World) crash(p *process) error {
	w.kill(p)
	synctest.Wait() // what it deferred has run, and reached nothing
	w.touch(schedule.Write, "proc", p.name)
	fresh, err := w.newProcess(p.index, p)
	if err != nil {
		return err
	}
	for i, other := range p.controllers {
		fresh.controllers[i].fired = other.fired
	}
	w.processes[p.index-1] = fresh
	return nil
}

// own marks a step as one of a process, which a crash of it depends on.
func (w *World) own(p *process) {
	if w.cfg.Crashes > 0 {
		w.touch(schedule.Add, "proc", p.name)
	}
}

func (c *controller) thread(key requestKey) string {
	return c.proc.name + "/" + c.name + "/" + key.String()
}

func (c *controller) location(key requestKey) []string {
	return []string{"queue", c.proc.name, c.name, key.String()}
}

func (c *controller) timerLocation(key requestKey) []string {
	return []string{"timer", c.proc.name, c.name, key.String()}
}

// enqueue adds a key to the queue; a key that is there already stays there once.
func (c *controller) enqueue(key requestKey) {
	c.queue[key] = append(c.queue[key], c.proc.w.at)
	c.proc.w.touch(schedule.Add, c.location(key)...)
}

func (c *controller) enqueueAfter(key requestKey, after time.Duration) {
	if after <= 0 {
		c.enqueue(key)
		return
	}
	// The clock moves in whole seconds: jitter must not reorder timers.
	deadline := (c.proc.w.clock + after + time.Second - 1).Truncate(time.Second)
	c.proc.w.touch(schedule.Write, c.timerLocation(key)...)
	c.timedBy[key] = append(c.timedBy[key], c.proc.w.at)
	if known, ok := c.timers[key]; !ok || deadline < known {
		c.timers[key] = deadline
	}
}

func (c *controller) enqueueRateLimited(key requestKey) {
	// controller-runtime's default: 5 ms, doubled for every failure in a row, at most 1000 s.
	delay := 5 * time.Millisecond << min(c.errors[key], 18)
	c.errors[key]++
	c.enqueueAfter(key, min(delay, 1000*time.Second))
}

func sortedKeys[V any](m map[requestKey]V) []requestKey {
	keys := make([]requestKey, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b requestKey) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
