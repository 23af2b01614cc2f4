package patchertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

// endsAs wants a phase once all is quiet.
func endsAs(phase string) func(*patchertest.Model) {
	return func(m *patchertest.Model) {
		m.Invariants = append(m.Invariants, patchertest.Eventually("ends as "+phase, func(h patchertest.History) error {
			if c, ok := patchertest.Latest[*cell.Cell](h, keyA); ok && c.Status.Phase != phase {
				return fmt.Errorf("phase is %q", c.Status.Phase)
			}
			return nil
		}))
	}
}

// poller waits for an outside system that is ready when it has been asked often enough. It writes nothing until then.
func poller(every time.Duration, polls int) func() patchertest.Model {
	return func() patchertest.Model {
		asked := 0
		return model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			if obj.Status.Phase == "Ready" {
				return reconcile.Result{}, nil
			}
			if asked++; asked < polls {
				return reconcile.Result{RequeueAfter: every}, nil
			}
			return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Ready" })
		}, endsAs("Ready"))()
	}
}

func TestPollersPoll(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 10 * time.Second, time.Hour} {
		for _, opts := range [][]patchertest.Option{nil, {stale}, {replicas2}, {patchertest.EarlyTimers(0)}} {
			if r := patchertest.Check(t, poller(every, 5), opts...); r.Violation != nil || !r.Exhaustive {
				t.Errorf("a poll every %s: expected to be ready at last, found %s", every, r)
			}
		}
	}
	// The negative control: what is never ready is a violation, and an end.
	if r := patchertest.Check(t, poller(time.Second, 1000)); r.Violation == nil || r.Violation.Invariant != "ends as Ready" {
		t.Errorf("expected the poller to find nothing, found %s", r)
	}
}

// TestHorizon: with a horizon, timers end as long as it lets them, and no longer.
func TestHorizon(t *testing.T) {
	for _, row := range []struct {
		polls int
		holds bool
	}{{30, true}, {60, true}, {62, false}} {
		r := patchertest.Check(t, poller(time.Minute, row.polls), patchertest.Horizon(time.Hour))
		if (r.Violation == nil) != row.holds {
			t.Errorf("%d polls, one a minute, in an hour: expected %v, found %s", row.polls, row.holds, r)
		}
	}
}

// TestScheduler: a reconciler that is driven by the clock runs at its times.
func TestScheduler(t *testing.T) {
	build := func(runs int64) func() patchertest.Model {
		return func() patchertest.Model {
			start := time.Now()
			return model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
				next := start.Add(time.Duration(obj.Status.Seen+1) * time.Hour)
				if wait := time.Until(next); wait > 0 {
					return reconcile.Result{RequeueAfter: wait}, nil
				}
				err := lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen++ })
				return reconcile.Result{RequeueAfter: time.Hour}, err
			}, func(m *patchertest.Model) {
				m.Invariants = append(m.Invariants, patchertest.Eventually("ran", func(h patchertest.History) error {
					if c, ok := patchertest.Latest[*cell.Cell](h, keyA); ok && c.Status.Seen < runs {
						return fmt.Errorf("%d runs", c.Status.Seen)
					}
					return nil
				}))
			})()
		}
	}
	if r := patchertest.Check(t, build(3), stale); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected three runs, found %s", r)
	}
	if r := patchertest.Check(t, build(24), patchertest.Horizon(25*time.Hour)); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a run an hour for a day, found %s", r)
	}
}

// TestHeartbeat: what writes for ever comes to an end, and is no livelock.
func TestHeartbeat(t *testing.T) {
	beat := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		err := lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen++ })
		return reconcile.Result{RequeueAfter: 10 * time.Second}, err
	}, func(m *patchertest.Model) {
		m.Controllers[0].Predicates = onlySpecs
	})
	if r := patchertest.Check(t, beat, stale); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a heartbeat to be no violation, found %s", r)
	}
	if r := patchertest.Check(t, beat, patchertest.Horizon(30*time.Minute)); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a heartbeat of half an hour to be no violation, found %s", r)
	}
}

// TestBackoffOfOneKeyBesideATimerOfAnother: a timer that settles nothing must not hide a backoff.
func TestBackoffOfOneKeyBesideATimerOfAnother(t *testing.T) {
	build := func() patchertest.Model {
		failed := 0
		m := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			if obj.Name == "b" {
				return reconcile.Result{RequeueAfter: 5 * time.Second}, nil
			}
			if failed++; failed < 4 {
				return reconcile.Result{}, errors.New("not yet")
			}
			if obj.Status.Phase == "Ready" {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Ready" })
		}, secondCell, endsAs("Ready"))()
		return m
	}
	for early := range 3 {
		if r := patchertest.Check(t, build, patchertest.EarlyTimers(early)); r.Violation != nil || !r.Exhaustive {
			t.Errorf("EarlyTimers(%d): expected the backoff to end, found %s", early, r)
		}
	}
}

// TestLateDeliveryIsNoLivelock: a loop that a delivery would end is not a livelock, however late the delivery may be.
func TestLateDeliveryIsNoLivelock(t *testing.T) {
	build := func(until bool) func() patchertest.Model {
		return func() patchertest.Model {
			count := 0
			m := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
				var maps corev1.ConfigMapList
				if err := c.List(ctx, &maps); err != nil || until && len(maps.Items) > 0 {
					return reconcile.Result{}, err
				}
				count++
				return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen = int64(count) })
			}, foreignMap)()
			m.Controllers[0].Watches = []patchertest.Watch{{Object: &corev1.ConfigMap{}, Map: func(context.Context, client.Client, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: keyA}}
			}}}
			m.Invariants = nil
			return m
		}
	}
	for _, limit := range []int{30, 100, 200} {
		opts := []patchertest.Option{stale, patchertest.MaxReconciles(limit), patchertest.MaxSchedules(10), patchertest.Samples(30)}
		if r := patchertest.Check(t, build(true), opts...); r.Violation != nil {
			t.Errorf("MaxReconciles(%d): expected the map to end the loop, found %s", limit, r)
		}
		// The negative control: a loop that nothing ends.
		if r := patchertest.Check(t, build(false), opts...); r.Violation == nil || r.Violation.Invariant != "livelock" {
			t.Errorf("MaxReconciles(%d): expected a livelock, found %s", limit, r)
		}
	}
}

// TestEndlessReconcile: a reconcile that calls for ever is a livelock, and one that a delivery ends is not.
func TestEndlessReconcile(t *testing.T) {
	build := func(until bool) func() patchertest.Model {
		return model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			for {
				var maps corev1.ConfigMapList
				if err := c.List(ctx, &maps); err != nil || until && len(maps.Items) > 0 {
					return reconcile.Result{}, err
				}
			}
		}, foreignMap)
	}
	opts := []patchertest.Option{stale, patchertest.MaxSchedules(3), patchertest.Samples(3)}
	if r := patchertest.Check(t, build(true), opts...); r.Violation != nil {
		t.Errorf("expected the delivery to end the loop, found %s", r)
	}
	if r := patchertest.Check(t, build(false), opts...); r.Violation == nil || r.Violation.Invariant != "livelock" {
		t.Errorf("expected a livelock, found %s", r)
	}
}

// TestOwnValueIsNotLost: a writer that overwrites what it wrote itself loses nothing of anybody else.
func TestOwnValueIsNotLost(t *testing.T) {
	count := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		var list corev1.ConfigMapList
		if err := c.List(ctx, &list); err != nil {
			return reconcile.Result{}, err
		}
		if n := int64(len(list.Items)); obj.Status.Seen != n {
			return reconcile.Result{}, blind(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen = n })
		}
		return reconcile.Result{}, nil
	}
	maps := func(m *patchertest.Model) {
		for _, name := range []string{"x", "y"} {
			m.Foreign = append(m.Foreign, patchertest.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}))
		}
		m.Controllers[0].Watches = []patchertest.Watch{{Object: &corev1.ConfigMap{}, Map: func(context.Context, client.Client, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: keyA}}
		}}}
	}
	if r := patchertest.Check(t, model(count, maps), stale); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a status that is derived and merged to hold, found %s", r)
	}
	// The negative control: the same write over a value of somebody else.
	theirs := func(m *patchertest.Model) {
		m.Foreign = append(m.Foreign, patchertest.MutateStatus(keyA, func(c *cell.Cell) { c.Status.Seen = 7 }).By("another"))
	}
	if r := patchertest.Check(t, model(count, maps, theirs), stale); r.Violation == nil || r.Violation.Invariant != "NoLostStatusWrite" {
		t.Errorf("expected the loss of a foreign value to be found, found %s", r)
	}
}

// TestGreenWithoutContent: models that could not fail are refused, or fail.
func TestGreenWithoutContent(t *testing.T) {
	fails := func(context.Context, api, *cell.Cell) (reconcile.Result, error) {
		return reconcile.Result{}, errors.New("no such luck")
	}
	scale := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		return reconcile.Result{}, client.IgnoreNotFound(c.SubResource("scale").Get(ctx, obj, &autoscalingv1.Scale{}))
	}
	unknownKind := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		if obj.Status.Phase == "" {
			return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Begun" })
		}
		return reconcile.Result{}, c.Get(ctx, keyA, &autoscalingv1.HorizontalPodAutoscaler{})
	}
	for _, row := range []struct {
		name, invariant, says string
		build                 func() patchertest.Model
		opts                  []patchertest.Option
	}{
		{"every reconcile fails", "ReconcilesSucceed", "no such luck", model(fails), nil},
		{"a subresource", "model", `"scale"`, model(scale), nil},
		{"an unknown kind", "model", "Model.Scheme", model(unknownKind), nil},
		{"a path that does not exist", "model", "conditions, observedGeneration", model(doneReconcile, func(m *patchertest.Model) {
			m.Invariants = []patchertest.Invariant{patchertest.AtMostOneEver("status.plna.id")}
		}), nil},
		{"nothing to reconcile", "model", "never reconciles", model(doneReconcile, func(m *patchertest.Model) { m.Objects = nil }), nil},
		{"no invariants at all", "model", "Invariants", model(doneReconcile, func(m *patchertest.Model) { m.Invariants = nil }), allOff},
		{"a demand that does not exist", "model", "ReconcilesSucceed", model(doneReconcile), []patchertest.Option{patchertest.Without("Reconciles")}},
	} {
		r := patchertest.Check(t, row.build, row.opts...)
		if r.Violation == nil || r.Violation.Invariant != row.invariant || !strings.Contains(r.Violation.Detail, row.says) {
			t.Errorf("%s: expected %s that says %s, found %s", row.name, row.invariant, row.says, r)
		}
	}
	// The negative controls: a path through a map, and a demand that is switched off.
	paths := func(m *patchertest.Model) {
		m.Invariants = []patchertest.Invariant{patchertest.AtMostOneEver("spec.tags.owner"), patchertest.AtMostOneEver("metadata.labels.a"), patchertest.AtMostOneEver("status.free.x")}
	}
	if r := patchertest.Check(t, model(doneReconcile, paths)); r.Violation != nil {
		t.Errorf("expected paths that exist to be accepted, found %s", r)
	}
	if r := patchertest.Check(t, model(fails), patchertest.Without("ReconcilesSucceed")); r.Violation != nil {
		t.Errorf("expected the demand to be switched off, found %s", r)
	}
}

// onlySpecs is what predicate.GenerationChangedPredicate is for.
var onlySpecs = []predicate.Predicate{predicate.GenerationChangedPredicate{}}

var allOff = []patchertest.Option{patchertest.Without("ReconcilesSucceed", "NoLostWrites", "ObservedGenerationWasRead", "TransitionTimesAreTrue",
	"WriteOnceFieldsAreKept", "FinalizersAwaitCleanup", "NoDuplicateChildren", "NoErrorIsSwallowed")}
