// Package outer has a retry that reads into a variable around it.
package outer

import (
	"context"

	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// SetupWithManager takes what the manager has.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) { r.Client = mgr.GetClient() }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	if cell.Status.Phase == "Planned" {
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := r.Get(ctx, client.ObjectKeyFromObject(cell), cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		if cell.Status.Plan == nil {
			plan := "mine"
			cell.Status.Plan = &plan
		}
		cell.Status.Phase = "Planned"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base))
	})
	return client.IgnoreNotFound(err)
}
