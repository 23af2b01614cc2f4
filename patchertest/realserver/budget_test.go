package realserver_test

import (
	"context"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The tests write the status of a PodDisruptionBudget: it has a status subresource and no controller here.

func createBudget(t *testing.T) *policyv1.PodDisruptionBudget {
	t.Helper()
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: server.Namespace(t), Name: "a"}}
	if err := server.Client(t, scheme.Scheme).Create(bounded(t), budget); err != nil {
		t.Fatal(err)
	}
	return budget
}

// allow writes a status on a copy of budget, under the lock or blind, as a reconcile would.
func allow(ctx context.Context, c client.Client, budget *policyv1.PodDisruptionBudget, pods int32, lock bool) error {
	base, changed := budget.DeepCopy(), budget.DeepCopy()
	changed.Status.DisruptionsAllowed = pods
	patch := client.MergeFrom(base)
	if lock {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	return c.Status().Patch(ctx, changed, patch)
}

func live(t *testing.T, budget *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	t.Helper()
	now := &policyv1.PodDisruptionBudget{}
	if err := server.Client(t, scheme.Scheme).Get(bounded(t), client.ObjectKeyFromObject(budget), now); err != nil {
		t.Fatal(err)
	}
	return now
}

func requestFor(obj client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// bounded is for what must happen.
func bounded(t *testing.T) context.Context {
	t.Helper()
	return within(t, 30*time.Second)
}

// brief is for what must not happen: long enough that it would have.
func brief(t *testing.T) context.Context {
	t.Helper()
	return within(t, 200*time.Millisecond)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
