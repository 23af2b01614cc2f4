// Package closures captures the base and flushes in function literals.
package closures

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ Client client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	var cell v1.Cell
	if err := r.Client.Get(ctx, key, &cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	base := cell.DeepCopy()
	flush := func(why string) error {
		if err := r.Client.Status().Patch(ctx, &cell, client.MergeFrom(base)); err != nil {
			return fmt.Errorf("%s: %w", why, err)
		}
		return nil
	}
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	return flush("planned")
}
