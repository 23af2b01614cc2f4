package patchertest_test

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

// straight reads n times and ends: n calls with nothing to react to.
func straight(n int) func() patchertest.Model {
	return func() patchertest.Model {
		m := patchertest.Model{Scheme: scheme, CRDs: crds, Objects: []client.Object{newCell("a")}}
		m.Controllers = []patchertest.Controller{{Name: "cell", For: &cell.Cell{},
			New: func(c client.Client, live client.Reader) reconcile.Reconciler {
				return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					for range n {
						var obj cell.Cell
						if err := live.Get(ctx, req.NamespacedName, &obj); err != nil {
							return reconcile.Result{}, err
						}
					}
					return reconcile.Result{}, nil
				})
			}}}
		return m
	}
}

func TestTime(t *testing.T) {
	start := time.Now()
	r := patchertest.Check(t, straight(6), patchertest.Replicas(2), patchertest.NoReduction())
	t.Log(r, time.Since(start))
	start = time.Now()
	r = patchertest.Check(t, minter(true), patchertest.Replicas(2), patchertest.StaleReads(), patchertest.Crashes(1), patchertest.Timeouts(1))
	t.Log(r, time.Since(start))
}
