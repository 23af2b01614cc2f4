// Package handed hands its object to a method that captures the base and writes.
package handed

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	var cell v1.Cell
	if err := r.Get(ctx, key, &cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	if cell.Spec.Size < 0 {
		return r.write(ctx, &cell, "Refused")
	}
	if err := r.write(ctx, &cell, "Planned"); err != nil {
		return err
	}
	return nil
}

func (r *Reconciler) write(ctx context.Context, cell *v1.Cell, phase string) error {
	base := cell.DeepCopy()
	if cell.Status.Plan == nil && phase == "Planned" {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = phase
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("cannot write %s: %w", phase, err)
	}
	return nil
}
