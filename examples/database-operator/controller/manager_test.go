package controller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// startManager runs the operator as main would, on one namespace, and records what each reconcile asks of the server.
func startManager(t *testing.T, namespace string) *realserver.Recorder {
	t.Helper()
	recorder := &realserver.Recorder{}
	mgr, err := ctrl.NewManager(server.Config(recorder.Wrap), ctrl.Options{
		Scheme:     newScheme(t),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetupWithManager(mgr, recorder.Reconciler); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return recorder
}

// eventually waits until the object on the server satisfies done.
func eventually[T client.Object](t *testing.T, c client.Client, obj T, done func(T) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return err == nil && done(obj), err
	})
	if err != nil {
		t.Fatalf("%v; the object is %+v", err, obj)
	}
}

// gone waits until the object is not on the server.
func gone(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Fatalf("%v; it is still there: %+v", err, obj)
	}
}

func observed(phase v1.Phase) func(*v1.Database) bool {
	return func(d *v1.Database) bool {
		return d.Status.Phase == phase && d.Status.ObservedGeneration == d.Generation
	}
}

func TestOperator(t *testing.T) {
	database := newDatabase(t)
	c := server.Client(t, newScheme(t))
	recorder := startManager(t, database.Namespace)

	eventually(t, c, database, observed(v1.PhaseReady))
	requireStatefulSet(t, c, database, 1)
	firstPlan := database.Status.Plan.ID

	database.Spec.Paused = true
	if err := c.Update(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	eventually(t, c, database, observed(v1.PhasePaused))
	requireStatefulSet(t, c, database, 0)
	if database.Status.Plan.ID == firstPlan {
		t.Error("the new spec was executed under the old plan")
	}
	requireRequests(t, recorder)
}

// requireStatefulSet: it is the one that the status tracks, for the plan that the status names.
func requireStatefulSet(t *testing.T, c client.Client, database *v1.Database, replicas int32) {
	t.Helper()
	statefulSet := &appsv1.StatefulSet{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(database), statefulSet); err != nil {
		t.Fatal(err)
	}
	if got := ptr.Deref(statefulSet.Spec.Replicas, -1); got != replicas {
		t.Errorf("%d replicas, want %d", got, replicas)
	}
	if got := statefulSet.Annotations[executor.PlanAnnotation]; got != database.Status.Plan.ID {
		t.Errorf("the StatefulSet is of plan %s, the status of plan %s", got, database.Status.Plan.ID)
	}
	if tracked := database.Status.StatefulSet; tracked == nil || tracked.UID != statefulSet.UID {
		t.Errorf("tracked %+v, want UID %s", tracked, statefulSet.UID)
	}
}

// requireRequests: a reconcile that changes the status makes one request for it, under the lock, one that plans claims the plan's ID
// before that, and any other makes none.
func requireRequests(t *testing.T, recorder *realserver.Recorder) {
	t.Helper()
	wrote, claimed, idle := 0, 0, 0
	for _, r := range recorder.Reconciles() {
		if !slices.ContainsFunc(r.Requests, realserver.StatusWrites()) {
			idle++
			continue
		}
		wrote++
		rest := r.Requests
		if at := slices.IndexFunc(rest, realserver.StatusWrites()); strings.Contains(string(rest[at].Body), `"id":`) {
			claimed++
			if _, err := realserver.OneStatusPatch(rest[:at+1]); err != nil {
				t.Error(err)
			}
			rest = rest[at+1:]
		}
		if _, err := realserver.OneStatusPatch(rest); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d reconciles wrote a status with 1 request each, %d of them after a claim, %d had nothing to write and made 0", wrote, claimed, idle)
	if wrote < 5 || claimed != 2 || idle == 0 {
		t.Errorf("want at least 5 that wrote, 2 of them after a claim, and 1 that did not: two plans, each claimed, made and executed, and the first one removed")
	}
}
