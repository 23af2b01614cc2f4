package realserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// steps is a reconciler that waits for the test at its start and before its end.
type steps struct{ started, end chan struct{} }

func newSteps() *steps { return &steps{started: make(chan struct{}), end: make(chan struct{})} }

func (s *steps) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	for _, step := range []chan struct{}{s.started, s.end} {
		select {
		case step <- struct{}{}:
		case <-ctx.Done():
			return reconcile.Result{}, ctx.Err()
		}
	}
	return reconcile.Result{}, nil
}

// versions is a reader that has what the test puts there: a cache that moves when it is told to.
type versions struct {
	client.Reader
	version string // empty: there is no such object
}

func (v *versions) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if v.version == "" {
		return apierrors.NewNotFound(policyv1.Resource("poddisruptionbudgets"), key.Name)
	}
	obj.SetResourceVersion(v.version)
	return nil
}

func at(version string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: version}}
}

func TestDrainBlocksUntilAReconcileThatStartedAfterTheVersionEnds(t *testing.T) {
	inner, cached := newSteps(), &versions{version: "4"}
	drain := realserver.NewDrain(inner, cached, &policyv1.PodDisruptionBudget{})
	run := func() <-chan error {
		return start(func() error { _, err := drain.Reconcile(bounded(t), requestFor(at(""))); return err })
	}
	blocked := func(why string) {
		t.Helper()
		if err := drain.Wait(brief(t), at("5")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s: Wait returned %v", why, err)
		}
	}
	blocked("no reconcile has begun")

	stale := run()
	<-inner.started
	cached.version = "5"
	blocked("one runs that started before the version")
	<-inner.end
	if err := <-stale; err != nil {
		t.Fatal(err)
	}
	blocked("one has ended that started before the version")

	current := run()
	<-inner.started
	blocked("one runs that started at the version")
	waited := start(func() error { return drain.Wait(bounded(t), at("5")) })
	<-inner.end
	if err := errors.Join(<-current, <-waited); err != nil {
		t.Fatal(err)
	}

	cached.version = "6"
	later := run()
	<-inner.started
	blocked("a later one runs")
	<-inner.end
	if err := errors.Join(<-later, drain.Wait(bounded(t), at("5")), drain.Wait(bounded(t), at("6"))); err != nil {
		t.Fatal(err)
	}
}

func TestDrainSaysHowFarReconcilesHaveCome(t *testing.T) {
	drain := realserver.NewDrain(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	}), &versions{version: "4"}, &policyv1.PodDisruptionBudget{})
	if _, err := drain.Reconcile(bounded(t), requestFor(at(""))); err != nil {
		t.Fatal(err)
	}
	err := drain.Wait(brief(t), at("5"))
	if err == nil || !strings.Contains(err.Error(), "expected a reconcile of ns/a that started at resourceVersion 5 or later to end, found the latest to end started at 4") {
		t.Errorf("got %v", err)
	}
	if err := drain.Wait(bounded(t), at("")); err == nil || !strings.Contains(err.Error(), "expected the resourceVersion of an object that was written or read") {
		t.Errorf("an object that was never written: %v", err)
	}
}

// A reconcile that finds nothing comes after every version that was seen, and before any that was not.
func TestDrainOfADeletedObject(t *testing.T) {
	cached := &versions{}
	drain := realserver.NewDrain(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	}), cached, &policyv1.PodDisruptionBudget{})
	reconcileAt := func(version string) {
		t.Helper()
		cached.version = version
		if _, err := drain.Reconcile(bounded(t), requestFor(at(""))); err != nil {
			t.Fatal(err)
		}
	}
	reconcileAt("") // the cache does not have it yet
	if err := drain.Wait(brief(t), at("5")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing was seen yet: %v", err)
	}
	reconcileAt("4")
	reconcileAt("") // deleted
	if err := drain.Wait(bounded(t), at("4")); err != nil {
		t.Error(err)
	}
	if err := drain.Wait(brief(t), at("5")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the object was made again at 5, which was not seen: %v", err)
	}
}

func TestDrainForgetsAReconcileThatPanics(t *testing.T) {
	drain := realserver.NewDrain(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		panic("in the reconciler")
	}), &versions{version: "5"}, &policyv1.PodDisruptionBudget{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not go on")
			}
		}()
		_, _ = drain.Reconcile(bounded(t), requestFor(at("")))
	}()
	if err := drain.Wait(bounded(t), at("5")); err != nil {
		t.Error(err)
	}
}
