package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// A closure flushes, and is called before several returns.
func (r *Reconciler) closure(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flushStatus := func() error {
		return r.Status().Patch(ctx, cell, client.MergeFrom(base))
	}
	if cell.Spec.Size == 0 {
		cell.Status.Phase = "Empty"
		return flushStatus()
	}
	cell.Status.Phase = "Full"
	return flushStatus()
}
