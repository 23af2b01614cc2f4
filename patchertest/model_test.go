package patchertest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

// shared is what a package variable of a controller would be.
var (
	sharedMutex   sync.Mutex
	sharedChannel = make(chan struct{})
	sharedCount   int
)

func doneReconcile(context.Context, api, *cell.Cell) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}

// brokenModels are models that are themselves at fault, and what must be said of them.
var brokenModels = []struct {
	name, kind, says string
	do               reconcileFunc
	opts             []patchertest.Option
}{
	{"a mutex held across a call", "stuck", "mutex", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		sharedMutex.Lock()
		defer sharedMutex.Unlock()
		return reconcile.Result{}, blind(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen = 1 })
	}, []patchertest.Option{replicas2}},
	{"a channel of the package", "stuck", "package variable", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		<-sharedChannel
		return reconcile.Result{}, nil
	}, nil},
	{"an endless loop", "stuck", "computes without end", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		for ctx.Err() == nil { //nolint:revive // the mistake
		}
		return reconcile.Result{}, nil
	}, nil},
	{"a goroutine that never ends", "goroutine that never ends", "model_test.go", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		go func() { <-make(chan struct{}) }()
		return reconcile.Result{}, nil
	}, nil},
	{"a ticker that never ends", "goroutine that never ends", "model_test.go", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		go func() {
			for {
				time.Sleep(time.Second)
			}
		}()
		return reconcile.Result{}, nil
	}, nil},
	{"a full event recorder", "blocked", "chan send", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		recorder := record.NewFakeRecorder(1)
		recorder.Event(obj, corev1.EventTypeNormal, "One", "fits")
		recorder.Event(obj, corev1.EventTypeNormal, "Two", "does not")
		return reconcile.Result{}, nil
	}, nil},
	{"a hidden counter", "deterministic", "step", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		if sharedCount++; obj.Status.Child != "" {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Child = fmt.Sprint(sharedCount) })
	}, []patchertest.Option{stale, replicas2}},
	{"an unknown kind", "model", "Model.Scheme", func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		panic("never")
	}, nil},
}

func TestBrokenModelsAreNamed(t *testing.T) {
	for _, m := range brokenModels {
		t.Run(m.name, func(t *testing.T) {
			build := model(m.do)
			if m.name == "an unknown kind" {
				build = model(m.do, func(m *patchertest.Model) { m.Controllers[0].For = &unknown{} })
			}
			start := time.Now()
			r := patchertest.Check(t, build, append(m.opts, patchertest.Watchdog(time.Second))...)
			if r.Violation == nil || !r.Violation.Broken || r.Violation.Invariant != m.kind || !strings.Contains(r.Violation.Detail, m.says) {
				t.Errorf("expected a broken model, %q, that says %q, found %s", m.kind, m.says, r)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("expected the report within 10 s, found %s", took)
			}
		})
	}
	// The control: the same model without a fault is none.
	if r := patchertest.Check(t, model(doneReconcile), replicas2, stale); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a model that does nothing to hold, found %s", r)
	}
}

type unknown struct{ cell.Cell }

func TestPanics(t *testing.T) {
	build := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		defer func() {
			// What is deferred runs while the panic goes on.
			_ = c.Status().Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Deferred"}}`)))
		}()
		if obj.Status.Phase == "" {
			panic("no phase")
		}
		return reconcile.Result{}, nil
	})
	if r := patchertest.Check(t, build, stale, patchertest.Crashes(1)); r.Violation != nil {
		t.Errorf("expected a panic to be an error like any other, found %s", r)
	}
	strict := with(build, func(m *patchertest.Model) { m.Invariants = append(m.Invariants, patchertest.NoPanics()) })
	r := patchertest.Check(t, strict, stale)
	if r.Violation == nil || r.Violation.Invariant != "NoPanics" || !strings.Contains(r.Violation.Detail, "no phase") {
		t.Errorf("expected NoPanics to be violated, found %s", r)
	}
}

// TestCrashLetsNothingLand holds that a dead process writes nothing, not even in what it deferred.
func TestCrashLetsNothingLand(t *testing.T) {
	build := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		if obj.Status.Phase != "" {
			return reconcile.Result{}, nil
		}
		landed := false
		defer func() {
			if !landed {
				_ = blind(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Ghost" })
			}
		}()
		if err := lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Written" }); err != nil {
			return reconcile.Result{}, err
		}
		landed = true
		return reconcile.Result{}, nil
	}, func(m *patchertest.Model) {
		m.Invariants = append(m.Invariants, patchertest.Always("no ghost", func(h patchertest.History) error {
			if c, ok := patchertest.Latest[*cell.Cell](h, keyA); ok && c.Status.Phase == "Ghost" {
				return fmt.Errorf("a dead process wrote")
			}
			return nil
		}))
	})
	if r := patchertest.Check(t, build, patchertest.Crashes(2)); r.Violation != nil || r.Schedules < 4 {
		t.Errorf("expected crashes to be tried and nothing to land after one, found %s", r)
	}
	// The control: a timeout leaves the process alive, and then the deferred write lands.
	if r := patchertest.Check(t, build, patchertest.Timeouts(1)); r.Violation == nil {
		t.Errorf("expected the deferred write to land after a timeout, found %s", r)
	}
}

func TestLivelock(t *testing.T) {
	flip := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen++ })
	}
	r := patchertest.Check(t, model(flip), patchertest.MaxReconciles(20))
	if r.Violation == nil || r.Violation.Invariant != "livelock" {
		t.Errorf("expected a livelock, found %s", r)
	}
	poll := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: time.Hour}, nil
	}
	if r := patchertest.Check(t, model(poll, paused), replicas2, stale); r.Violation != nil {
		t.Errorf("expected a reconciler that looks again every hour to come to rest, found %s", r)
	}
}

// TestEventuallyGivesNoFreeReconcile: a conflict that is swallowed where no event follows is a lost wake-up.
func TestEventuallyGivesNoFreeReconcile(t *testing.T) {
	// The child's events are not watched: after the swallowed failure nothing wakes the reconciler again.
	once := func(retry bool) reconcileFunc {
		return func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			result, err := writeChild(ctx, c, obj)
			if err != nil && !retry {
				return reconcile.Result{}, nil
			}
			return result, err
		}
	}
	hasChild := func(m *patchertest.Model) {
		m.Invariants = append(m.Invariants, patchertest.Eventually("child is told of", func(h patchertest.History) error {
			if c, ok := patchertest.Latest[*cell.Cell](h, keyA); ok && c.Status.Child == "" {
				return fmt.Errorf("status.child is empty")
			}
			return nil
		}))
	}
	if r := patchertest.Check(t, model(once(false), hasChild), patchertest.Timeouts(1)); r.Violation == nil {
		t.Errorf("expected the swallowed timeout to be found, found %s", r)
	}
	if r := patchertest.Check(t, model(once(true), hasChild), patchertest.Timeouts(1)); r.Violation != nil {
		t.Errorf("expected the returned error to be tried again, found %s", r)
	}
}

// TestSameReportAlways: one seed, one report, to the byte.
func TestSameReportAlways(t *testing.T) {
	for _, m := range []struct {
		build func() patchertest.Model
		opts  []patchertest.Option
		runs  int
	}{
		{mint(blind), []patchertest.Option{replicas2}, 100},
		{mint(retryFromCache), []patchertest.Option{replicas2, stale, patchertest.MaxSchedules(2), patchertest.Seed(3)}, 5},
	} {
		first := ""
		for i := range m.runs {
			r := patchertest.Check(t, m.build, m.opts...)
			text := r.String() + r.Mermaid()
			if i == 0 {
				first = text
			}
			if text != first {
				t.Fatalf("run %d: expected the report of the first run\n%s\nfound\n%s", i, first, text)
			}
		}
	}
}

func TestSampling(t *testing.T) {
	limits := []patchertest.Option{replicas2, stale, patchertest.MaxSchedules(2), patchertest.Samples(50)}
	r := patchertest.Check(t, mint(retryFromCache), limits...)
	if r.Violation == nil || r.Exhaustive {
		t.Errorf("expected sampling to find the violation and not to be called exhaustive, found %s", r)
	}
	r = patchertest.Check(t, mintOnce(lockedPatch), limits...)
	if r.Violation != nil || r.Exhaustive || !strings.Contains(r.String(), "sampled ") {
		t.Errorf("expected a sample that holds, found %s", r)
	}
	// Random schedules alone find it too.
	r = patchertest.Check(t, mintOnce(blind), replicas2, patchertest.MaxSchedules(1), patchertest.Samples(200))
	if r.Violation == nil {
		t.Errorf("expected the race to be sampled, found %s", r)
	}
}

// TestTwoControllersOnOneObject: their conditions must not cost each other.
func TestTwoControllersOnOneObject(t *testing.T) {
	set := func(name string, write func(context.Context, api, *cell.Cell, func(*cell.Cell)) error) reconcileFunc {
		return func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			for _, condition := range obj.Status.Conditions {
				if condition.Type == name {
					return reconcile.Result{}, nil
				}
			}
			return reconcile.Result{}, write(ctx, c, obj, func(o *cell.Cell) {
				o.Status.Conditions = append(o.Status.Conditions, conditionOf(name))
			})
		}
	}
	two := func(write func(context.Context, api, *cell.Cell, func(*cell.Cell)) error) func() patchertest.Model {
		return with(model(set("One", write)), func(m *patchertest.Model) {
			m.Controllers = append(m.Controllers, controllerOf("other", set("Two", write)))
		})
	}
	if r := patchertest.Check(t, two(blind), stale); r.Violation == nil || r.Violation.Invariant != "NoLostStatusWrite" {
		t.Errorf("expected a lost condition, found %s", r)
	}
	if r := patchertest.Check(t, two(lockedPatch), stale); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected locked writes to hold, found %s", r)
	}
}
