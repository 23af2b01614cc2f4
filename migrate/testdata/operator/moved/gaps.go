package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// Several lines go together, and leave no gap.
func (r *Reconciler) gaps(ctx context.Context, key client.ObjectKey, wanted v1.CellStatus) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	if cell.Status.Phase != wanted.Phase {
		// A new patch of just the status: the one above may have changed it.
		base := cell.DeepCopy()
		patch := client.MergeFrom(base)

		// The status as it is to be.
		wanted.DeepCopyInto(&cell.Status)

		if err := r.Status().Patch(ctx, cell, patch); err != nil {
			return err
		}
	}

	before := cell.DeepCopy()
	again := client.MergeFrom(before)

	cell.Status.Count++
	return r.Status().Patch(ctx, cell, again)
}
