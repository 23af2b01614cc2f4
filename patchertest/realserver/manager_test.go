package realserver_test

import (
	"context"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/transport"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// observe is a reconciler that stamps the generation it has seen, under the lock.
func observe(c client.Client) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		budget := &policyv1.PodDisruptionBudget{}
		if err := c.Get(ctx, req.NamespacedName, budget); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		base := budget.DeepCopy()
		if budget.Status.ObservedGeneration = budget.Generation; base.Status.ObservedGeneration == budget.Generation {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, c.Status().Patch(ctx, budget, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	})
}

// runManager runs a manager whose cache is limited to a namespace, and stops it at the test's end.
func runManager(t *testing.T, namespace string, setup func(ctrl.Manager) reconcile.Reconciler, wrap ...transport.WrapperFunc) {
	t.Helper()
	skip := true // controller-runtime wants names unique in the process
	mgr, err := ctrl.NewManager(server.Config(wrap...), ctrl.Options{
		Scheme:     scheme.Scheme,
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&policyv1.PodDisruptionBudget{}).Complete(setup(mgr)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := start(func() error { return mgr.Start(ctx) })
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// All of it together, under a manager: the reconcile for a spec is held before its status write, which Drain waits for
// and the recorder counts.
func TestDrainGateAndRecorderUnderAManager(t *testing.T) {
	budget := createBudget(t)
	gate, recorder := realserver.NewGate(t, realserver.StatusWrites()), &realserver.Recorder{}
	var drain *realserver.Drain
	runManager(t, budget.Namespace, func(mgr ctrl.Manager) reconcile.Reconciler {
		drain = realserver.NewDrain(recorder.Reconciler(observe(mgr.GetClient())), mgr.GetClient(), &policyv1.PodDisruptionBudget{})
		return drain
	}, recorder.Wrap, gate.Wrap)

	held, err := gate.Next(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := drain.Wait(brief(t), budget); err == nil {
		t.Fatal("Drain did not wait for a reconcile that is held")
	}
	held.Release()
	if err := drain.Wait(bounded(t), budget); err != nil {
		t.Fatal(err)
	}
	first := recorder.Reconciles()[0]
	if _, err := realserver.OneStatusPatch(first.Requests); err != nil || first.Err != nil {
		t.Errorf("%v, %v", first.Err, err)
	}
	if now := live(t, budget); now.Status.ObservedGeneration != 1 {
		t.Errorf("observed generation %d", now.Status.ObservedGeneration)
	}
}
