// Package contains asks for its finalizer before it adds it, as kubebuilder's documentation does.
package contains

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/cells/api/v1"
)

// Finalizer is what a cell keeps until its cleanup is done.
const Finalizer = "cells.example.com/finalizer"

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	var cell v1.Cell
	if err := r.Get(ctx, key, &cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !controllerutil.ContainsFinalizer(&cell, Finalizer) {
		controllerutil.AddFinalizer(&cell, Finalizer)
		if err := r.Update(ctx, &cell); err != nil {
			return err
		}
	}
	base := cell.DeepCopy()
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	return r.Status().Patch(ctx, &cell, client.MergeFrom(base))
}
