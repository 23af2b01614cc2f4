package moved

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/operator/api/v1"
)

// Several writes, a guard around one of them, and a write of the finalizers in between. The base that the guard compares with stays.
func (r *Reconciler) several(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	original := cell.DeepCopy()
	cell.Status.Phase = "Started"
	if !reflect.DeepEqual(original.Status, cell.Status) {
		if err := r.Status().Patch(ctx, cell, client.MergeFrom(original)); err != nil {
			return err
		}
	}

	// The base of the next write.
	base := cell.DeepCopy()
	if controllerutil.AddFinalizer(cell, "example.com/keep") {
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	cell.Status.Phase = "Kept"
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil {
		return err
	}
	base = cell.DeepCopy()
	cell.Status.Phase = "Done"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
