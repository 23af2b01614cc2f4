// Package again captures the base a second time, for what comes after the first write.
package again

import (
	"context"
	"log"

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
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil {
		log.Print(err)
	}
	base = cell.DeepCopy()
	cell.Status.Phase = "Planned"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
