// Package kept has captures that look as if they could be made again after the other write. Each would then do something else, so each
// stays as it is.
package kept

import (
	"context"
	"log"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler writes the object twice.
type Reconciler struct{ client.Client }

// An edit of the status that comes before the other write is part of what is sent: a new base would hide it.
func (r *Reconciler) editedBefore(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	if cell.Labels["seen"] == "" {
		cell.Labels = map[string]string{"seen": "true"}
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// Where the other write fails, the function goes on with the old base.
func (r *Reconciler) failureGoesOn(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"seen": "true"}
	err := r.Update(ctx, cell)
	cell.Status.Phase = "Ready"
	if perr := r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); perr != nil {
		return perr
	}
	return err
}

// Where it fails, that is only logged.
func (r *Reconciler) failureIsLogged(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"seen": "true"}
	if err := r.Update(ctx, cell); err != nil {
		log.Print(err)
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// The other write goes through another variable, so that this one is not made fresh.
func (r *Reconciler) throughACopy(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	labelled := cell.DeepCopy()
	labelled.Labels = map[string]string{"seen": "true"}
	if err := r.Update(ctx, labelled); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// Reconcile calls those that need a fresh object.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	for _, step := range []int{0, 1, 2, 3} {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		var err error
		switch step {
		case 0:
			err = r.editedBefore(ctx, cell)
		case 1:
			err = r.failureGoesOn(ctx, cell)
		case 2:
			err = r.throughACopy(ctx, cell)
		case 3:
			err = r.failureIsLogged(ctx, cell)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
