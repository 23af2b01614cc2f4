// Package lockguard has blind patches to which the lock may be added, and such where it would conflict for ever or lose
// the status. The option keeps them from being moved to the patcher.
package lockguard

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type ensurer interface {
	Ensure(ctx context.Context, cell *v1.Cell) error
}

type Reconciler struct {
	client.Client
	ensurer ensurer
	hook    func(ctx context.Context, c client.Client, cell *v1.Cell) error
}

const owner = client.FieldOwner("cells")

func (r *Reconciler) fixDirect(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) fixSeenHelper(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	r.decide(cell)
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) decide(cell *v1.Cell) { cell.Status.Phase = "Ready" }

func (r *Reconciler) fixParameter(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) callsParameter(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.fixParameter(ctx, cell)
}

// A caller that writes first.
func (r *Reconciler) keepOneStaleCaller(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) freshCaller(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.keepOneStaleCaller(ctx, cell)
}

func (r *Reconciler) staleCaller(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.byKey(ctx, key); err != nil {
		return err
	}
	return r.keepOneStaleCaller(ctx, cell)
}

// Writes what has that key, through a variable of its own.
func (r *Reconciler) byKey(ctx context.Context, key client.ObjectKey) error {
	other := &v1.Cell{}
	if err := r.Get(ctx, key, other); err != nil {
		return err
	}
	return r.Update(ctx, other)
}

func (r *Reconciler) KeepExported(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) keepInterface(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.ensurer.Ensure(ctx, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) keepFunctionValue(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.hook(ctx, r.Client, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) keepSameKind(ctx context.Context, key client.ObjectKey, other *v1.Cell) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.Update(ctx, other); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) keepDropped(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	_ = r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
	return nil
}

func (r *Reconciler) keepLoop(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	for range 3 {
		cell.Status.Count++
		if err := r.Status().Patch(ctx, cell, client.MergeFrom(base), owner); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) keepSharedPatch(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	patch := client.MergeFrom(cell.DeepCopy())
	cell.Status.Phase = "Ready"
	if cell.Spec.Size > 0 {
		return r.Patch(ctx, cell, patch)
	}
	return r.Status().Patch(ctx, cell, patch, owner)
}
