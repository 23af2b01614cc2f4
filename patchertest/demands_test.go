package patchertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

const finalizer = "test.dev/machine"

// demanded is a model without a single invariant of its author.
func demanded(do func(ctx context.Context, c api, cloud *machines, obj *cell.Cell) (reconcile.Result, error), change ...func(*patchertest.Model)) func() patchertest.Model {
	return func() patchertest.Model {
		cloud := &machines{step: true}
		return model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			return do(ctx, c, cloud, obj)
		},
			append(change, func(m *patchertest.Model) { m.Invariants = nil })...)()
	}
}

// plain is a reconciler that has no cloud.
func plain(do reconcileFunc) func(context.Context, api, *machines, *cell.Cell) (reconcile.Result, error) {
	return func(ctx context.Context, c api, _ *machines, obj *cell.Cell) (reconcile.Result, error) {
		return do(ctx, c, obj)
	}
}

func (m *machines) delete(ctx context.Context, id string) error {
	_, err := patchertest.Call(ctx, "cloud.Delete", func() (string, error) {
		if !m.live[id] {
			return "", errors.New("machine not found")
		}
		delete(m.live, id)
		return id, nil
	})
	return err
}

// graftedVersion updates what it read from the cache, with the resourceVersion of a live read.
func graftedVersion(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Annotations["done"] != "" {
		return reconcile.Result{}, nil
	}
	fresh := &cell.Cell{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(obj), fresh); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	obj.ResourceVersion = fresh.ResourceVersion
	obj.Annotations = map[string]string{"done": "yes"}
	return reconcile.Result{}, c.Update(ctx, obj)
}

// generationOfTheAnswer stamps the generation that the answer to its first write told.
func generationOfTheAnswer(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.ObservedGeneration == obj.Generation {
		return reconcile.Result{}, nil
	}
	size := obj.Spec.Size
	if err := blind(ctx, c, obj, func(o *cell.Cell) { o.Status.Phase = fmt.Sprint("Size", size) }); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return reconcile.Result{}, blind(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen, o.Status.ObservedGeneration = size, o.Generation })
}

// machineOfCell creates a machine and deletes it with the cell. What becomes of an error of the deletion is up to confirm.
func machineOfCell(confirm func(error) error) func(context.Context, api, *machines, *cell.Cell) (reconcile.Result, error) {
	return func(ctx context.Context, c api, cloud *machines, obj *cell.Cell) (reconcile.Result, error) {
		if obj.DeletionTimestamp != nil {
			if !controllerutil.ContainsFinalizer(obj, finalizer) {
				return reconcile.Result{}, nil
			}
			if err := confirm(cloud.delete(ctx, obj.Status.Child)); err != nil {
				return reconcile.Result{}, err
			}
			controllerutil.RemoveFinalizer(obj, finalizer)
			return reconcile.Result{}, client.IgnoreNotFound(c.Update(ctx, obj))
		}
		if controllerutil.AddFinalizer(obj, finalizer) {
			return reconcile.Result{}, c.Update(ctx, obj)
		}
		return listThenMachine(ctx, c, cloud, obj)
	}
}

func notFoundIsDone(err error) error {
	if err != nil && strings.Contains(err.Error(), "not found") {
		return nil
	}
	return err
}

// generatedChild creates a config map with a generated name if it sees none.
func generatedChild(live bool) reconcileFunc {
	return func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		var list corev1.ConfigMapList
		var reader client.Reader = c
		if live {
			reader = c.live
		}
		if err := reader.List(ctx, &list); err != nil || len(list.Items) > 0 {
			return reconcile.Result{}, err
		}
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, GenerateName: obj.Name + "-"}}
		if err := controllerutil.SetControllerReference(obj, child, c.Scheme()); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, c.Create(ctx, child)
	}
}

// readyEveryTime sets a condition with a new time whenever it runs; ready sets it only when its status changes.
func readyEveryTime(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	return reconcile.Result{RequeueAfter: time.Minute}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Conditions = []metav1.Condition{conditionOf("Ready")} })
}

func ready(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	status := metav1.ConditionTrue
	if obj.Spec.Paused {
		status = metav1.ConditionFalse
	}
	if meta.IsStatusConditionPresentAndEqual(obj.Status.Conditions, "Ready", status) {
		return reconcile.Result{RequeueAfter: time.Minute}, nil
	}
	return reconcile.Result{RequeueAfter: time.Minute}, lockedPatch(ctx, c, obj, func(o *cell.Cell) {
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: "Ready", Status: status, Reason: "Because"})
	})
}

// staleTransition flips a condition and keeps its time.
func staleTransition(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if len(obj.Status.Conditions) == 0 {
		return reconcile.Result{RequeueAfter: time.Minute}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Conditions = []metav1.Condition{conditionOf("Ready")} })
	}
	if obj.Status.Conditions[0].Status == metav1.ConditionFalse || obj.Status.Conditions[0].LastTransitionTime.Add(time.Minute).After(time.Now()) {
		return reconcile.Result{RequeueAfter: time.Minute}, nil
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Conditions[0].Status = metav1.ConditionFalse })
}

func swallowsTimeouts(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	_, err := observe(ctx, c, obj)
	if err != nil {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, nil
}

func deleted(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Delete[*cell.Cell](keyA))
}

func resizedOnly(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Mutate(keyA, func(c *cell.Cell) { c.Spec.Size = 2 }))
}

// TestDemandsFindBugs: each kind of bug is found with no invariant of the author's, and passes with its demand switched off.
func TestDemandsFindBugs(t *testing.T) {
	mintBlindly := func() patchertest.Model {
		m := mint(blind)()
		m.Invariants = nil
		return m
	}
	for _, row := range []struct {
		name, demand string
		build        func() patchertest.Model
		opts         []patchertest.Option
	}{
		{"a plan is minted twice", "NoLostWrites", mintBlindly, []patchertest.Option{replicas2}},
		{"an update loses a spec edit", "NoLostWrites", demanded(plain(graftedVersion), resizedOnly), []patchertest.Option{stale}},
		{"a newer generation is stamped", "ObservedGenerationWasRead", demanded(plain(generationOfTheAnswer), resizedOnly), []patchertest.Option{stale}},
		{"a finalizer goes before the cleanup", "FinalizersAwaitCleanup", demanded(machineOfCell(func(error) error { return nil }), deleted), []patchertest.Option{patchertest.Timeouts(1)}},
		{"two children for one", "NoDuplicateChildren", demanded(plain(generatedChild(false)), ownsChild), []patchertest.Option{replicas2, stale}},
		{"a condition that moves its time", "TransitionTimesAreTrue", demanded(plain(readyEveryTime), withSpecsOnly), nil},
		{"a condition that keeps its time", "TransitionTimesAreTrue", demanded(plain(staleTransition)), nil},
		{"an error is swallowed", "NoErrorIsSwallowed", demanded(plain(swallowsTimeouts)), []patchertest.Option{patchertest.Timeouts(1)}},
		{"every reconcile fails", "ReconcilesSucceed", demanded(plain(func(context.Context, api, *cell.Cell) (reconcile.Result, error) {
			return reconcile.Result{}, errors.New("no such luck")
		})), nil},
	} {
		r := patchertest.Check(t, row.build, row.opts...)
		if r.Violation == nil || r.Violation.Invariant != row.demand {
			t.Errorf("%s: expected a violation of %s, found %s", row.name, row.demand, r)
			continue
		}
		t.Logf("%s: %s after %d schedules", row.name, row.demand, r.Schedules)
		if r := patchertest.Check(t, row.build, slices.Concat(row.opts, []patchertest.Option{patchertest.Without(row.demand)})...); r.Violation != nil && r.Violation.Invariant == row.demand {
			t.Errorf("%s: expected %s to be switched off, found %s", row.name, row.demand, r)
		}
	}
}

func withSpecsOnly(m *patchertest.Model) { m.Controllers[0].Predicates = onlySpecs }

// TestDemandsAllowCorrectReconcilers: no demand finds fault with a reconciler that is right.
func TestDemandsAllowCorrectReconcilers(t *testing.T) {
	claim := func(ctx context.Context, c api, cloud *machines, obj *cell.Cell) (reconcile.Result, error) {
		if obj.Status.Plan == nil { // the claim comes before the side effect
			return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Plan = &cell.Plan{ID: string(o.UID)} })
		}
		return listThenMachine(ctx, c, cloud, obj)
	}
	adopt := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: obj.Name}}
		_, err := controllerutil.CreateOrUpdate(ctx, c, child, func() error {
			child.Data = map[string]string{"size": fmt.Sprint(obj.Spec.Size)}
			return controllerutil.SetControllerReference(obj, child, c.Scheme())
		})
		if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}
		return reconcile.Result{}, err
	}
	refetch := func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
		fresh := &cell.Cell{}
		if err := c.live.Get(ctx, client.ObjectKeyFromObject(obj), fresh); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		return observe(ctx, c, fresh)
	}
	for _, row := range []struct {
		name  string
		build func() patchertest.Model
	}{
		{"observe", demanded(plain(observe), resizedOnly)},
		{"observe two cells", demanded(plain(observe), secondCell)},
		{"read again, then observe", demanded(plain(refetch), resizedOnly)},
		{"requeue after a conflict", demanded(plain(requeue), resizedOnly)},
		{"two writes", demanded(plain(phases), resizedOnly)},
		{"a child of a fixed name", demanded(plain(writeChild), ownsChild)},
		{"a child that is kept up to date", demanded(plain(adopt), ownsChild, resizedOnly)},
		{"a machine with a finalizer", demanded(machineOfCell(notFoundIsDone), deleted)},
		{"a claim before the machine", demanded(claim)},
		{"conditions", demanded(plain(ready), paused)},
		{"a poller", with(poller(10*time.Second, 3), func(m *patchertest.Model) { m.Invariants = nil })},
		{"a live counter", demanded(plain(counter))},
	} {
		for _, opts := range [][]patchertest.Option{{stale}, {replicas2}, {patchertest.Crashes(1)}, {patchertest.Timeouts(1), stale}} {
			opts = append(opts, patchertest.Budget(time.Second), patchertest.Samples(50))
			if r := patchertest.Check(t, row.build, opts...); r.Violation != nil {
				t.Errorf("%s: expected no violation, found %s", row.name, r)
			}
		}
	}
}
