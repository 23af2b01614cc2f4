package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

func (r *Reconciler) entry(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	return r.setPhase(ctx, cell, "Planned")
}

func (r *Reconciler) setPhase(ctx context.Context, cell *v1.Cell, phase string) error {
	base := cell.DeepCopy()

	cell.Status.Phase = phase
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
