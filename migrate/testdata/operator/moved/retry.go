package moved

import (
	"context"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// A retry that reads the object again keeps its form: a conflict of a Flush is one for RetryOnConflict, too.
func (r *Reconciler) retries(ctx context.Context, key client.ObjectKey) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Count++
		return r.Status().Update(ctx, cell)
	})
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		cell.Status.Count++
		return r.Status().Patch(ctx, cell, client.MergeFrom(base))
	})
}
