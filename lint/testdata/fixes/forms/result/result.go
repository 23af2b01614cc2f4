// Package result returns what a controller's Reconcile does.
package result

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	base := cell.DeepCopy()
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
		cell.Status.Phase = "Planned"
		if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, nil
	}
	cell.Status.Phase = "Planned"
	return ctrl.Result{}, r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
