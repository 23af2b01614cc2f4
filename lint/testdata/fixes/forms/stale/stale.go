// Package stale captures the base before it adds a label, so that its lock conflicts with its own write.
package stale

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
	if cell.Labels["seen"] == "" {
		cell.Labels = map[string]string{"seen": "true"}
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}
