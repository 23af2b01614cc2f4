package exploration_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest"
)

// The published failure: one decision is written in three patches (metadata, status, conditions), and a conflict of
// the last is tried again from the cache, which has not yet seen the first two. All tries fail on the same stale
// object; the next reconcile finds the generation observed and has nothing to do. The condition stays as it was.

// decide is what both reconcilers decide.
func decide(d *v1.Database) metav1.Condition {
	d.Status.Phase = v1.PhaseReady
	reason := "Running"
	if d.Spec.Paused {
		d.Status.Phase, reason = v1.PhasePaused, "Paused"
	}
	return metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: d.Generation}
}

// threePatches is the reconciler as it was.
func threePatches(c client.Client, _ client.Reader) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		d := &v1.Database{}
		if err := c.Get(ctx, req.NamespacedName, d); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if d.Status.ObservedGeneration == d.Generation {
			return reconcile.Result{}, nil
		}
		base := d.DeepCopy()
		controllerutil.AddFinalizer(d, v1.Finalizer)
		if err := c.Patch(ctx, d, client.MergeFrom(base)); err != nil {
			return reconcile.Result{}, err
		}
		base = d.DeepCopy()
		ready := decide(d)
		d.Status.ObservedGeneration = d.Generation
		if err := c.Status().Patch(ctx, d, client.MergeFrom(base)); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, patchCondition(ctx, c, req.NamespacedName, ready)
	})
}

// patchCondition tries five times, each time from the cache.
func patchCondition(ctx context.Context, c client.Client, key client.ObjectKey, ready metav1.Condition) (err error) {
	for range 5 {
		d := &v1.Database{}
		if err := c.Get(ctx, key, d); err != nil {
			return err
		}
		base := d.DeepCopy()
		meta.SetStatusCondition(&d.Status.Conditions, ready)
		err = c.Status().Patch(ctx, d, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}

// onePatcher is the same reconciler on the generated patcher.
func onePatcher(c client.Client, live client.Reader) reconcile.Reconciler {
	statuses := v1status.NewDatabaseStatusClient(c, live)
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
		d, status, err := statuses.Fetch(ctx, req.NamespacedName)
		if err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		defer status.FlushOnReturn(ctx, &result, &err)
		if d.Status.ObservedGeneration == d.Generation {
			return reconcile.Result{}, nil
		}
		if _, err := status.PatchMetadata(ctx, func(d *v1.Database) { controllerutil.AddFinalizer(d, v1.Finalizer) }); err != nil {
			return patcher.RequeueOnConflict(err)
		}
		status.SetCondition(decide(d))
		status.SetObservedGeneration()
		return reconcile.Result{}, nil
	})
}

func published(t *testing.T, build func(client.Client, client.Reader) reconcile.Reconciler) func() patchertest.Model {
	return newModel(t, func(m *patchertest.Model) {
		m.Controllers = []patchertest.Controller{{Name: "database", For: &v1.Database{}, New: build}}
		m.Foreign = []patchertest.Step{patchertest.Mutate(orders, func(d *v1.Database) { d.Spec.Paused = true })}
		m.Invariants = []patchertest.Invariant{
			patchertest.EventuallyObserved(),
			patchertest.Eventually("Ready tells the truth", func(h patchertest.History) error {
				d, ok := patchertest.Latest[*v1.Database](h, orders)
				if !ok {
					return nil
				}
				ready := meta.FindStatusCondition(d.Status.Conditions, v1.ConditionReady)
				if ready == nil {
					return fmt.Errorf("phase is %s, and there is no condition", d.Status.Phase)
				}
				if ready.ObservedGeneration != d.Generation || d.Spec.Paused != (ready.Reason == "Paused") {
					return fmt.Errorf("Ready says %s of generation %d, the object is at generation %d", ready.Reason, ready.ObservedGeneration, d.Generation)
				}
				return nil
			}),
		}
	})
}

func TestPublishedFailure(t *testing.T) {
	stale := patchertest.StaleReads()
	r := patchertest.Check(t, published(t, threePatches), stale)
	if r.Violation == nil || r.Violation.Invariant != "Ready tells the truth" {
		t.Fatalf("expected the condition to be found lying, found %s", r)
	}
	t.Logf("\n%s", r)
	for name, opts := range map[string][]patchertest.Option{
		"stale":        {stale},
		"crash":        {stale, patchertest.Crashes(1)},
		"timeout":      {stale, patchertest.Timeouts(1)},
		"two replicas": {patchertest.Replicas(2)},
	} {
		t.Run(name, func(t *testing.T) {
			if r := patchertest.Check(t, published(t, onePatcher), append(opts, patient)...); r.Violation != nil || !r.Exhaustive {
				t.Errorf("expected the generated patcher to hold in every schedule, found %s", r)
			} else {
				t.Log(r)
			}
		})
	}
}
