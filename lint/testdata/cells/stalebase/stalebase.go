package stalebase

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

// A finalizer is added between capture and patch, and the reconcile goes on.
func (r *Reconciler) finalizer(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if controllerutil.AddFinalizer(cell, "x") {
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `stale-base: `
}

// The lock does not help.
func (r *Reconciler) locked(ctx context.Context, cell *v1.Cell) error {
	patch := client.MergeFromWithOptions(cell.DeepCopy(), client.MergeFromWithOptimisticLock{})
	cell.Spec.Size = 2
	if err := r.Patch(ctx, cell, patch); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, patch) // want `stale-base: `
}

// One base for two status patches.
func (r *Reconciler) twice(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Working"
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { // want `blind-merge: `
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `stale-base: `
}

// The write is in a helper, the patch deferred.
func (r *Reconciler) deferred(ctx context.Context, cell *v1.Cell) (err error) {
	base := cell.DeepCopy()
	defer func() {
		if perr := r.Status().Patch(ctx, cell, client.MergeFrom(base)); perr != nil { // want `stale-base: `
			err = perr
		}
	}()
	if err := r.label(ctx, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return nil
}

func (r *Reconciler) label(ctx context.Context, cell *v1.Cell) error {
	cell.Labels = map[string]string{"a": "b"}
	return r.Update(ctx, cell)
}

// A copy is written.
func (r *Reconciler) copyWritten(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	next := cell.DeepCopy()
	next.Spec.Size++
	if err := r.Update(ctx, next); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `stale-base: `
}

// The base is captured in the caller, before its write.
func (r *Reconciler) flush(ctx context.Context, cell *v1.Cell, base client.Object) error {
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `stale-base: `
}

func (r *Reconciler) caller(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Spec.Size++
	if err := r.Update(ctx, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.flush(ctx, cell, base)
}

// A helper that keeps the base in a field and writes twice from it.
type helper struct {
	client client.Client
	before client.Object
}

func newHelper(c client.Client, obj client.Object) *helper {
	return &helper{client: c, before: obj.DeepCopyObject().(client.Object)}
}

func (h *helper) patch(ctx context.Context, obj client.Object) error {
	if err := h.main(ctx, obj); err != nil {
		return err
	}
	return h.status(ctx, obj)
}

func (h *helper) main(ctx context.Context, obj client.Object) error {
	after := obj.DeepCopyObject().(client.Object)
	return h.client.Patch(ctx, after, client.MergeFrom(h.before))
}

func (h *helper) status(ctx context.Context, obj client.Object) error {
	return h.client.Status().Patch(ctx, obj, client.MergeFrom(h.before)) // want `stale-base: `
}

// Near miss of stale-base: the write leaves the function.
func (r *Reconciler) returns(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	base := cell.DeepCopy()
	if controllerutil.AddFinalizer(cell, "x") {
		if err := r.Update(ctx, cell); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{Requeue: true}, nil
	}
	cell.Status.Phase = "Ready"
	return ctrl.Result{}, r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// Near miss of stale-base: the base is captured after the write.
func (r *Reconciler) after(ctx context.Context, cell *v1.Cell) error {
	if controllerutil.AddFinalizer(cell, "x") {
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

// Near miss of stale-base: another object is written.
func (r *Reconciler) other(ctx context.Context, cell, neighbour *v1.Cell) error {
	base := cell.DeepCopy()
	neighbour.Spec.Size++
	if err := r.Update(ctx, neighbour); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

// Near miss of stale-base: recaptured between the two patches.
func (r *Reconciler) recaptured(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Working"
	if err := r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil { // want `locked: `
		return err
	}
	base = cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

// Near miss of stale-base: a helper that writes and tells its caller to stop.
func (r *Reconciler) ensure(ctx context.Context, cell *v1.Cell) (stop bool, err error) {
	if !controllerutil.AddFinalizer(cell, "x") {
		return false, nil
	}
	if err := r.Update(ctx, cell); err != nil {
		return true, err
	}
	return true, nil
}

func (r *Reconciler) stops(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if stop, err := r.ensure(ctx, cell); stop || err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

// Near miss of stale-base: the closure runs before the other write only.
func (r *Reconciler) closureBefore(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	flush := func() error {
		return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
	}
	if cell.Spec.Size == 0 {
		cell.Status.Phase = "Empty"
		return flush()
	}
	cell.Status.Phase = "Ready"
	if err := flush(); err != nil {
		return err
	}
	cell.Labels = map[string]string{"a": "b"}
	return r.Update(ctx, cell)
}

// The closure runs after the other write, too.
func (r *Reconciler) closureAfter(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	flush := func() error {
		return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `stale-base: `
	}
	cell.Status.Phase = "Working"
	if err := flush(); err != nil {
		return err
	}
	cell.Labels = map[string]string{"a": "b"}
	if err := r.Update(ctx, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return flush()
}

// Nobody knows when a closure runs that is handed on.
func (r *Reconciler) closureHandedOn(ctx context.Context, cell *v1.Cell, later func(func() error)) error {
	base := cell.DeepCopy()
	flush := func() error {
		return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `stale-base: `
	}
	later(flush)
	cell.Labels = map[string]string{"a": "b"}
	return r.Update(ctx, cell)
}
