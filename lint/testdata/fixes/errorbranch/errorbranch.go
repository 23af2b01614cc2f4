// Package errorbranch uses the object where its read has failed. Fetch returns none there.
package errorbranch

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "example.com/cells/api/v1"
)

// Reconciler reads a cell that may be gone.
type Reconciler struct{ client.Client }

// The branch of the error names the object.
func (r *Reconciler) inBranch(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return fmt.Errorf("cannot read %s: %w", cell.Name, err)
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

// The branch does not always leave.
func (r *Reconciler) goesOn(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

// The error is looked at after the object.
func (r *Reconciler) later(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	err := r.Get(ctx, key, cell)
	log.FromContext(ctx).Info("read", "phase", cell.Status.Phase)
	if err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

// A closure that the branch calls uses it.
func (r *Reconciler) closure(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	err := r.Get(ctx, key, cell)
	name := func() string { return cell.Name }
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", name(), err)
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}
