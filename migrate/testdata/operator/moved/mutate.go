package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

func (r *Reconciler) mutations(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.patchStatus(ctx, cell, func(s *v1.CellStatus) { s.Phase = "Planned" }); err != nil {
		return err
	}
	return r.patchStatus(ctx, cell, func(s *v1.CellStatus) { s.Count++ })
}

func (r *Reconciler) patchStatus(ctx context.Context, cell *v1.Cell, mutate func(*v1.CellStatus)) error {
	patch := client.MergeFrom(cell.DeepCopy())
	mutate(&cell.Status)
	return r.Status().Patch(ctx, cell, patch)
}
