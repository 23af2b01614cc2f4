package patchertest_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

var (
	scheme = cell.NewScheme()
	crds   = cell.CRDs()
	keyA   = client.ObjectKey{Namespace: "default", Name: "a"}
)

func newCell(name string) *cell.Cell {
	return &cell.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: cell.Spec{Size: 1}}
}

// minter mints a plan, with or without the lock.
func minter(locked bool) func() patchertest.Model {
	return func() patchertest.Model {
		minted := 0
		return patchertest.Model{
			Scheme: scheme, CRDs: crds, Objects: []client.Object{newCell("a")},
			Controllers: []patchertest.Controller{{
				Name: "cell", For: &cell.Cell{},
				New: func(c client.Client, _ client.Reader) reconcile.Reconciler {
					return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
						var obj cell.Cell
						if err := c.Get(ctx, req.NamespacedName, &obj); err != nil {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						if obj.Status.Plan != nil {
							return reconcile.Result{}, nil
						}
						base := obj.DeepCopy()
						minted++
						obj.Status.Plan = &cell.Plan{ID: fmt.Sprintf("p-%d", minted)}
						patch := client.MergeFrom(base)
						if locked {
							patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
						}
						return reconcile.Result{}, c.Status().Patch(ctx, &obj, patch)
					})
				},
			}},
			Invariants: []patchertest.Invariant{patchertest.AtMostOneEver("status.plan.id"), patchertest.NoLostStatusWrite()},
		}
	}
}

func TestFirst(t *testing.T) {
	r := patchertest.Check(t, minter(false), patchertest.Replicas(2))
	t.Log("\n" + r.String())
	r = patchertest.Check(t, minter(true), patchertest.Replicas(2))
	t.Log("\n" + r.String())
	r = patchertest.Check(t, minter(true), patchertest.Replicas(2), patchertest.StaleReads())
	t.Log("\n" + r.String())
	r = patchertest.Check(t, minter(true), patchertest.Replicas(2), patchertest.StaleReads(), patchertest.Crashes(1), patchertest.Timeouts(1))
	t.Log("\n" + r.String())
}
