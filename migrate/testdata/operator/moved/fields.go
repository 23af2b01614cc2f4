package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// Objects in fields, in lists, and from getters.
func (r *Reconciler) fields(ctx context.Context) error {
	list := &v1.CellList{}
	if err := r.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		item := &list.Items[i]
		base := item.DeepCopy()
		item.Status.Count++
		if err := r.Status().Patch(ctx, item, client.MergeFrom(base)); err != nil {
			return err
		}
		if err := r.Status().Update(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	r.held.Status.Phase = "Held"
	return r.Status().Update(ctx, r.held)
}

func (r *Reconciler) getter(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Read"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

// Each turn of a loop has an item of its own.
func (r *Reconciler) items(ctx context.Context) error {
	list := &v1.CellList{}
	if err := r.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		if err := r.steer(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) steer(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Count = cell.Spec.Size
	if cell.Spec.Size == 0 {
		return nil
	}
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
