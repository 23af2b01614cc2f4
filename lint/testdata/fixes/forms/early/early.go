// Package early returns early in several places, each with its own write.
package early

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	err := r.Get(ctx, key, cell)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	base := cell.DeepCopy()
	if cell.Spec.Size < 0 {
		cell.Status.Phase = "Refused"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base))
	}
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
		cell.Status.Phase = "Planned"
		err = r.Status().Patch(ctx, cell, client.MergeFrom(base))
		return err
	}
	cell.Status.Phase = "Planned"
	if reflect.DeepEqual(base.Status, cell.Status) {
		return nil
	}
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
