package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

type phase struct {
	name string
	run  func(context.Context, *v1.Cell) error
}

// Functions in a list take the object, and write it through one helper.
func (r *Reconciler) phases(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	for _, p := range []phase{{"first", r.first}, {"second", r.second}} {
		if err := p.run(ctx, cell); err != nil {
			return r.record(ctx, cell, p.name)
		}
	}
	return nil
}

func (r *Reconciler) first(ctx context.Context, cell *v1.Cell) error {
	return r.record(ctx, cell, "First")
}

func (r *Reconciler) second(ctx context.Context, cell *v1.Cell) error {
	return r.record(ctx, cell, "Second")
}

func (r *Reconciler) record(ctx context.Context, cell *v1.Cell, phase string) error {
	patch := client.MergeFrom(cell.DeepCopy())
	cell.Status.Phase = phase
	return r.Status().Patch(ctx, cell, patch)
}
