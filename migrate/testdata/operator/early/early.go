// Package early has writes that a reviewer should look at, and near misses: fields of the status that are cleared before steps that can
// fail, and errors that nothing returns.
package early

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/operator/api/v1"
)

type reconciler struct{ client.Client }

func (r *reconciler) deferred(ctx context.Context, key client.ObjectKey) (err error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.Status().Update(ctx, cell)) // note: 25
	}()
	cell.Status.Plan = nil
	controllerutil.RemoveFinalizer(cell, "example.com/keep")
	return r.Update(ctx, cell)
}

func (r *reconciler) inBranch(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Plan = nil
	err := r.Delete(ctx, &v1.Cell{})
	if err != nil {
		cell.Status.Phase = "Failed"
		return errors.Join(err, r.Status().Update(ctx, cell)) // note: 35
	}
	return r.Status().Update(ctx, cell) // no note
}

// Near misses: the field is cleared after the step, or set again.
func (r *reconciler) after(ctx context.Context, key client.ObjectKey) (err error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.Status().Update(ctx, cell)) // no note
	}()
	if err := r.Delete(ctx, &v1.Cell{}); err != nil {
		return err
	}
	cell.Status.Plan = nil
	return nil
}

func (r *reconciler) setAgain(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	plan := cell.Status.Plan
	cell.Status.Plan = nil
	cell.Status.Plan = plan
	if err := r.Delete(ctx, &v1.Cell{}); err != nil {
		return errors.Join(err, r.Status().Update(ctx, cell)) // no note
	}
	return nil
}

// A patch without a lock never conflicted. Now nothing runs again after a conflict.
func (r *reconciler) dropped(ctx context.Context, key client.ObjectKey) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Failed"
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { // note: 82
		println(err.Error())
	}
}

func (r *reconciler) returned(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Failed"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // no note
}
