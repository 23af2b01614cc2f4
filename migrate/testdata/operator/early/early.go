// Package early clears fields of the status before steps that can fail: the plan has a note where the status is sent also then.
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
		err = errors.Join(err, r.Status().Update(ctx, cell)) // note: 24
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
		return errors.Join(err, r.Status().Update(ctx, cell)) // note: 34
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
