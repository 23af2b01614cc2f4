// Package deferred writes when the reconcile ends.
package deferred

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) (err error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	patch := client.MergeFrom(cell.DeepCopy())
	defer func() {
		if perr := r.Status().Patch(ctx, cell, patch); perr != nil {
			err = errors.Join(err, perr)
		}
	}()
	cell.Status.Phase = "Planned"
	if cell.Status.Plan != nil {
		return nil
	}
	plan := "mine"
	cell.Status.Plan = &plan
	return nil
}
