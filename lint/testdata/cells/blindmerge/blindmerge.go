package blindmerge

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct {
	client.Client
	Other client.Client
}

// The base in a local variable.
func (r *Reconciler) local(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// The patch in a variable, the flush deferred.
func (r *Reconciler) deferred(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	patch := client.MergeFrom(cell.DeepCopy())
	defer func() {
		if perr := r.Status().Patch(ctx, cell, patch); perr != nil { // want `blind-merge: `
			err = perr
		}
	}()
	cell.Status.Phase = "Ready"
	return ctrl.Result{}, nil
}

// Through a writer in a variable, and options without the lock.
func (r *Reconciler) writer(ctx context.Context, cell *v1.Cell) error {
	w := r.Other.Status()
	before := cell.DeepCopyObject().(client.Object)
	cell.Status.Count++
	return w.Patch(ctx, cell, client.MergeFromWithOptions(before)) // want `blind-merge: `
}

// A patch that the caller made.
func (r *Reconciler) helper(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return r.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

func (r *Reconciler) calls(ctx context.Context, cell *v1.Cell) error {
	patch := client.MergeFrom(cell.DeepCopy())
	cell.Status.Phase = "Ready"
	return r.helper(ctx, cell, patch)
}

// CreateOrPatch sends status without the lock.
func (r *Reconciler) createOrPatch(ctx context.Context, cell *v1.Cell) error {
	_, err := controllerutil.CreateOrPatch(ctx, r.Client, cell, func() error { // want `blind-merge: `
		cell.Status.Phase = "Ready"
		return nil
	})
	return err
}

// A struct copied by value is a base, too.
func (r *Reconciler) byValue(ctx context.Context, cell *v1.Cell) error {
	orig := *cell
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(&orig)) // want `blind-merge: `
}

// Generic code.
func patchStatus[T client.Object](ctx context.Context, c client.Client, obj, base T, change func(T)) error {
	change(obj)
	return c.Status().Patch(ctx, obj, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) generic(ctx context.Context, cell *v1.Cell) error {
	return patchStatus(ctx, r.Client, cell, cell.DeepCopy(), func(c *v1.Cell) { c.Status.Phase = "Ready" })
}

// Near miss of blind-merge: a patch of the main resource.
func (r *Reconciler) spec(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Spec.Size = 3
	return r.Patch(ctx, cell, client.MergeFrom(base))
}

// Near miss of blind-merge: another subresource.
func (r *Reconciler) scale(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Spec.Size = 3
	return r.SubResource("scale").Patch(ctx, cell, client.MergeFrom(base))
}

// Near miss of blind-merge: CreateOrPatch of spec only.
func (r *Reconciler) createOrPatchSpec(ctx context.Context, cell *v1.Cell) error {
	_, err := controllerutil.CreateOrPatch(ctx, r.Client, cell, func() error {
		cell.Spec.Size = 2
		return nil
	})
	return err
}

// SubResource of what is no constant counts.
func (r *Reconciler) named(ctx context.Context, cell *v1.Cell, name string) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.SubResource(name).Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// A function literal at package level has no function around it.
var command = struct {
	run func(ctx context.Context, c client.Client, cell *v1.Cell) error
}{
	run: func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		base := cell.DeepCopy()
		cell.Status.Phase = "Ready"
		return c.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
	},
}
