// Package finalizer adds its finalizer between the capture and the write.
package finalizer

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/cells/api/v1"
)

const name = "cells.example.com/finalizer"

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	base := cell.DeepCopy()
	if !cell.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(cell, name) {
		if err := r.Update(ctx, cell); err != nil {
			return ctrl.Result{}, err
		}
	}
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	return ctrl.Result{}, r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}
