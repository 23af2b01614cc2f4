// Package setup has a retry, and a manager where its reconciler is made.
package setup

import (
	"context"

	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// New makes a reconciler.
func New(mgr ctrl.Manager) *Reconciler {
	return &Reconciler{Client: mgr.GetClient()}
}

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	return client.IgnoreNotFound(r.plan(ctx, key))
}

func (r *Reconciler) plan(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var cell v1.Cell
		if err := r.Get(ctx, key, &cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		if cell.Status.Plan == nil {
			plan := "mine"
			cell.Status.Plan = &plan
		}
		cell.Status.Phase = "Planned"
		return r.Status().Patch(ctx, &cell, client.MergeFrom(base))
	})
}
