package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// The copy is edited, and written against the original.
func (r *Reconciler) againstOriginal(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	updated := cell.DeepCopy()
	updated.Status.Phase = "Planned"
	if err := r.Status().Patch(ctx, updated, client.MergeFrom(cell)); err != nil {
		return err
	}
	*cell = *updated
	return nil
}
