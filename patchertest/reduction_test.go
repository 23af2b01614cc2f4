package patchertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

type api struct {
	client.Client
	live client.Reader
}

// reconcileFunc is a reconciler of one cell, which was read from the cache.
type reconcileFunc func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error)

// model runs one reconciler over cell a.
func model(do reconcileFunc, change ...func(*patchertest.Model)) func() patchertest.Model {
	return func() patchertest.Model {
		m := patchertest.Model{
			Scheme: scheme, CRDs: crds, Objects: []client.Object{newCell("a")},
			Controllers: []patchertest.Controller{controllerOf("cell", do)},
			Invariants:  []patchertest.Invariant{patchertest.AtMostOneEver("status.plan.id"), patchertest.NoLostStatusWrite()},
		}
		for _, f := range change {
			f(&m)
		}
		return m
	}
}

func controllerOf(name string, do reconcileFunc) patchertest.Controller {
	return patchertest.Controller{Name: name, For: &cell.Cell{}, New: func(c client.Client, live client.Reader) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			obj := &cell.Cell{}
			if err := c.Get(ctx, req.NamespacedName, obj); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			return do(ctx, api{Client: c, live: live}, obj)
		})
	}}
}

// blind and lockedPatch are the two idioms of a status write.
func blind(ctx context.Context, c api, obj *cell.Cell, change func(*cell.Cell)) error {
	base := obj.DeepCopy()
	change(obj)
	return c.Status().Patch(ctx, obj, client.MergeFrom(base))
}

func lockedPatch(ctx context.Context, c api, obj *cell.Cell, change func(*cell.Cell)) error {
	base := obj.DeepCopy()
	change(obj)
	return c.Status().Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// planOf is a plan that only this decision makes.
func planOf(marks *atomic.Int64) func(*cell.Cell) {
	id := fmt.Sprintf("p-%d", marks.Add(1))
	return func(o *cell.Cell) { o.Status.Plan = &cell.Plan{ID: id} }
}

func mintOnce(write func(context.Context, api, *cell.Cell, func(*cell.Cell)) error) func() patchertest.Model {
	return func() patchertest.Model {
		var marks atomic.Int64
		return model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			if obj.Status.Plan != nil {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{}, write(ctx, c, obj, planOf(&marks))
		})()
	}
}

func with(build func() patchertest.Model, change ...func(*patchertest.Model)) func() patchertest.Model {
	return func() patchertest.Model {
		m := build()
		for _, f := range change {
			f(&m)
		}
		return m
	}
}

func secondCell(m *patchertest.Model) { m.Objects = append(m.Objects, newCell("b")) }

func paused(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Mutate(keyA, func(c *cell.Cell) { c.Spec.Paused = true }))
}

func foreignStatus(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.MutateStatus(keyA, func(c *cell.Cell) { c.Status.Child = "foreign" }))
}

func recreated(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Delete[*cell.Cell](keyA), patchertest.Create(newCell("a")))
}

func observed(m *patchertest.Model) {
	m.Invariants = append(m.Invariants, patchertest.EventuallyObserved(), patchertest.EventuallyQuiescent())
}

// writeChild creates a config map beside the cell, and counts what it sees.
func writeChild(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: obj.Name}}
	if err := controllerutil.SetControllerReference(obj, child, c.Scheme()); err != nil {
		return reconcile.Result{}, err
	}
	if err := c.Create(ctx, child); err != nil && !apierrors.IsAlreadyExists(err) {
		return reconcile.Result{}, err
	}
	if obj.Status.Child == obj.Name {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Child = o.Name })
}

func ownsChild(m *patchertest.Model) { m.Controllers[0].Owns = []client.Object{&corev1.ConfigMap{}} }

// countMaps writes how many config maps a list shows.
func countMaps(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	var list corev1.ConfigMapList
	if err := c.List(ctx, &list, client.InNamespace(obj.Namespace)); err != nil {
		return reconcile.Result{}, err
	}
	if n := int64(len(list.Items)); obj.Status.Seen != n {
		return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen = n })
	}
	return reconcile.Result{}, nil
}

func foreignMap(m *patchertest.Model) {
	m.Controllers[0].Owns = nil
	m.Foreign = append(m.Foreign, patchertest.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}}))
}

// observe stamps the generation that it read.
func observe(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.ObservedGeneration == obj.Generation {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.ObservedGeneration = o.Generation })
}

// swallow does as observe, and keeps conflicts to itself.
func swallow(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	result, err := observe(ctx, c, obj)
	if apierrors.IsConflict(err) {
		err = nil
	}
	return result, err
}

// requeue does as observe, and tries again later after a conflict.
func requeue(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	result, err := observe(ctx, c, obj)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	return result, err
}

// counter moves a number up to 1 by live reads.
func counter(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	fresh := &cell.Cell{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(obj), fresh); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if fresh.Status.Seen >= 1 {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, lockedPatch(ctx, c, fresh, func(o *cell.Cell) { o.Status.Seen++ })
}

func neverOver(limit int64) func(m *patchertest.Model) {
	return func(m *patchertest.Model) {
		m.Invariants = append(m.Invariants, patchertest.Always("never over", func(h patchertest.History) error {
			for _, c := range patchertest.Versions[*cell.Cell](h, keyA) {
				if c.Status.Seen > limit {
					return fmt.Errorf("seen is %d", c.Status.Seen)
				}
			}
			return nil
		}))
	}
}

// phases writes one phase after another, in two writes.
func phases(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.Phase == "Done" {
		return reconcile.Result{}, nil
	}
	if err := lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Half" }); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = "Done" })
}

func endsDone(m *patchertest.Model) {
	m.Invariants = append(m.Invariants, patchertest.Eventually("ends done", func(h patchertest.History) error {
		if c, ok := patchertest.Latest[*cell.Cell](h, keyA); ok && c.Status.Phase != "Done" {
			return errors.New("phase is " + c.Status.Phase)
		}
		return nil
	}))
}

var replicas2, stale = patchertest.Replicas(2), patchertest.StaleReads()

// smallModels are small enough to be run in every order.
var smallModels = []struct {
	name  string
	build func() patchertest.Model
	opts  []patchertest.Option
}{
	{"blind mint, two replicas", mintOnce(blind), []patchertest.Option{replicas2}},
	{"blind mint, stale", mintOnce(blind), []patchertest.Option{stale}},
	{"blind mint, two stale replicas", mintOnce(blind), []patchertest.Option{replicas2, stale}},
	{"locked mint, two replicas", mintOnce(lockedPatch), []patchertest.Option{replicas2}},
	{"locked mint, stale", mintOnce(lockedPatch), []patchertest.Option{stale}},
	{"locked mint, two cells", with(mintOnce(lockedPatch), secondCell), []patchertest.Option{stale}},
	{"locked mint, a crash", mintOnce(lockedPatch), []patchertest.Option{patchertest.Crashes(1)}},
	{"locked mint, a stale crash", mintOnce(lockedPatch), []patchertest.Option{stale, patchertest.Crashes(1)}},
	{"blind mint, a stale crash", mintOnce(blind), []patchertest.Option{stale, patchertest.Crashes(1)}},
	{"locked mint, a timeout", mintOnce(lockedPatch), []patchertest.Option{stale, patchertest.Timeouts(1)}},
	{"blind mint, a timeout", mintOnce(blind), []patchertest.Option{stale, patchertest.Timeouts(1)}},
	{"locked mint, recreated", with(mintOnce(lockedPatch), recreated), []patchertest.Option{stale}},
	{"blind mint, foreign status", with(mintOnce(blind), foreignStatus), []patchertest.Option{stale}},
	{"observe, foreign spec", model(observe, paused, observed), []patchertest.Option{stale}},
	{"observe, foreign status, two replicas", model(observe, foreignStatus, observed), []patchertest.Option{replicas2, patchertest.EarlyTimers(0)}},
	{"swallow, foreign spec", model(swallow, paused, observed), []patchertest.Option{stale}},
	{"swallow, foreign status", model(swallow, foreignStatus, observed), nil},
	{"requeue, foreign spec", model(requeue, paused, observed), []patchertest.Option{stale}},
	{"requeue, foreign status, early timers", model(requeue, foreignStatus, observed), []patchertest.Option{stale, patchertest.EarlyTimers(2)}},
	{"child, owned", model(writeChild, ownsChild), []patchertest.Option{stale}},
	{"child, two replicas", model(writeChild, ownsChild), []patchertest.Option{replicas2}},
	{"list, foreign create", model(countMaps, foreignMap), []patchertest.Option{stale}},
	{"live counter", model(counter, neverOver(1)), []patchertest.Option{replicas2}},
	{"live counter, too far", model(counter, neverOver(0)), []patchertest.Option{replicas2}},
	{"two writes", model(phases, foreignStatus, endsDone), []patchertest.Option{stale}},
	{"two writes, deleted", model(phases, recreated, endsDone), nil},
}

// TestReductionKeepsVerdicts runs each model in every order, and with the reduction: the same invariants fail.
func TestReductionKeepsVerdicts(t *testing.T) {
	if len(smallModels) < 20 {
		t.Fatalf("expected at least 20 models, found %d", len(smallModels))
	}
	schedules, kept := 0, 0
	for _, m := range smallModels {
		t.Run(m.name, func(t *testing.T) {
			limits := []patchertest.Option{patchertest.Budget(5 * time.Minute), patchertest.MaxSchedules(400_000)}
			all := patchertest.Check(t, m.build, slices.Concat(m.opts, limits, []patchertest.Option{patchertest.NoReduction()})...)
			reduced := patchertest.Check(t, m.build, slices.Concat(m.opts, limits)...)
			if reduced.Violation == nil && !(all.Exhaustive && reduced.Exhaustive) {
				t.Fatalf("expected both runs to be exhaustive, found %v and %v", all, reduced)
			}
			if verdict(all) != verdict(reduced) {
				t.Errorf("without reduction: %s\nwith reduction: %s", all, reduced)
			}
			t.Logf("%d schedules, reduced to %d: %s", all.Schedules, reduced.Schedules, verdict(reduced))
			schedules, kept = schedules+all.Schedules, kept+reduced.Schedules
		})
	}
	if schedules < 5*kept {
		t.Errorf("expected the reduction to leave at most a fifth of %d schedules, found %d", schedules, kept)
	}
}

func verdict(r *patchertest.Report) string {
	if r.Violation == nil {
		return "holds"
	}
	return r.Violation.Invariant
}

// straight reads n times and ends: n calls with nothing to react to.
func straight(n int) func() patchertest.Model {
	return model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		for range n - 1 {
			if err := c.live.Get(ctx, client.ObjectKeyFromObject(obj), &cell.Cell{}); err != nil {
				return reconcile.Result{}, err
			}
		}
		return reconcile.Result{}, nil
	})
}

func TestAllInterleavingsOfTwoReconciles(t *testing.T) {
	start := processorTime(t)
	r := patchertest.Check(t, straight(6), replicas2, patchertest.NoReduction())
	// 5 s of two processors; wall time would tell of what else the machine does.
	if took := processorTime(t) - start; r.Schedules != 924 || !r.Exhaustive || took > 10*time.Second {
		t.Errorf("expected 12 over 6 = 924 schedules within 10 s of processor time, found %s in %s", r, took)
	} else {
		t.Logf("%s in %s of processor time", r, took)
	}
	if r := patchertest.Check(t, straight(6), replicas2); r.Schedules != 1 || !r.Exhaustive {
		t.Errorf("expected reads alone to be reduced to one schedule, found %s", r)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func conditionOf(kind string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Because", LastTransitionTime: metav1.Now()}
}
