package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// The base, or the patch, is made by the caller and handed on.
func (r *Reconciler) parameters(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	patch := client.MergeFromWithOptions(cell.DeepCopy(), client.MergeFromWithOptimisticLock{})
	cell.Status.Phase = "Planned"
	if err := r.sendBase(ctx, cell, base); err != nil {
		return err
	}
	if cell.Spec.Size > 3 {
		return r.sendPatch(ctx, patch, cell)
	}
	return r.sendBoth(ctx, cell, base, "Done")
}

func (r *Reconciler) sendBase(ctx context.Context, cell, base *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

func (r *Reconciler) sendPatch(ctx context.Context, patch client.Patch, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, patch)
}

func (r *Reconciler) sendBoth(ctx context.Context, cell *v1.Cell, base *v1.Cell, phase string) error {
	cell.Status.Phase = phase
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
