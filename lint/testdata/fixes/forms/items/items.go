// Package items writes each item of a list.
package items

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cells of that name if they have no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells, client.InNamespace(key.Namespace)); err != nil {
		return err
	}
	for i := range cells.Items {
		if cells.Items[i].Name != key.Name {
			continue
		}
		if err := r.plan(ctx, &cells.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) plan(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
