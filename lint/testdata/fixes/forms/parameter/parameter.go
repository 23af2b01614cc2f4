// Package parameter hands the base to the function that writes.
package parameter

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	base := cell.DeepCopy()
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	return r.flush(ctx, cell, base)
}

func (r *Reconciler) flush(ctx context.Context, cell, base *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
