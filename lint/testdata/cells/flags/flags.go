// Package flags sets, or clears, the resourceVersion only where a flag asks for it.
package flags

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// An object for server-side apply.
func skeleton(cell *v1.Cell, strict bool) *v1.Cell {
	out := &v1.Cell{TypeMeta: cell.TypeMeta, ObjectMeta: metav1.ObjectMeta{Name: cell.Name, Namespace: cell.Namespace}}
	if strict {
		out.ResourceVersion = cell.ResourceVersion
	}
	return out
}

func loose(ctx context.Context, c client.Client, cell *v1.Cell) error {
	next := skeleton(cell, false)
	next.Status.Phase = "Ready"
	return c.Status().Patch(ctx, next, client.Apply, client.FieldOwner("x")) // want `blind-apply: `
}

func strict(ctx context.Context, c client.Client, cell *v1.Cell) error {
	next := skeleton(cell, true)
	next.Status.Phase = "Ready"
	return c.Status().Patch(ctx, next, client.Apply, client.FieldOwner("x")) // want `locked: `
}

// Handed on by another function.
func prepare(cell *v1.Cell, strict bool) *v1.Cell {
	next := skeleton(cell, strict)
	next.Status.Phase = "Ready"
	return next
}

func apply(ctx context.Context, c client.Client, next *v1.Cell) error {
	return c.Status().Patch(ctx, next, client.Apply, client.FieldOwner("x")) // want `blind-apply: `
}

func applyLocked(ctx context.Context, c client.Client, next *v1.Cell) error {
	return c.Status().Patch(ctx, next, client.Apply, client.FieldOwner("x")) // want `locked: `
}

func applies(ctx context.Context, c client.Client, cell *v1.Cell) error {
	if err := applyLocked(ctx, c, prepare(cell, true)); err != nil {
		return err
	}
	return apply(ctx, c, prepare(cell, false))
}

// The flag may be an option's field, which some option turns off.
type options struct{ strict, always bool }

func withLoose(o *options) { o.strict = false }

func defaults() options { return options{strict: true, always: true} }

func patch(ctx context.Context, c client.Client, cell *v1.Cell, o options, change func(*v1.Cell)) error {
	base := cell.DeepCopy()
	if o.strict {
		base.SetResourceVersion("")
	}
	change(cell)
	return c.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func patchAlways(ctx context.Context, c client.Client, cell *v1.Cell, o options, change func(*v1.Cell)) error {
	base := cell.DeepCopy()
	if o.always {
		base.SetResourceVersion("")
	}
	change(cell)
	return c.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `locked: `
}

func patches(ctx context.Context, c client.Client, cell *v1.Cell) error {
	o := defaults()
	withLoose(&o)
	if err := patch(ctx, c, cell, o, func(cell *v1.Cell) { cell.Status.Phase = "Ready" }); err != nil {
		return err
	}
	return patchAlways(ctx, c, cell, o, func(cell *v1.Cell) { cell.Status.Phase = "Ready" })
}

// The base is made, and cleared, by a function; the patch is sent by a function value.
func original(cell *v1.Cell, strict bool) client.Object {
	out := cell.DeepCopyObject().(client.Object)
	if strict {
		out.SetResourceVersion("")
	}
	return out
}

func common(cell *v1.Cell, strict bool, send func(client.Patch) error) error {
	base := original(cell, strict)
	cell.Status.Phase = "Ready"
	return send(client.MergeFrom(base))
}

func sendsLoose(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return commonLoose(cell, func(p client.Patch) error {
		return c.Status().Patch(ctx, cell, p) // want `blind-merge: `
	})
}

func commonLoose(cell *v1.Cell, send func(client.Patch) error) error {
	base := original(cell, false)
	cell.Status.Phase = "Ready"
	return send(client.MergeFrom(base))
}

func sendsStrict(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return common(cell, true, func(p client.Patch) error {
		return c.Status().Patch(ctx, cell, p) // want `locked: `
	})
}

// Chooser chooses its patches by flags.
type Chooser struct{ client.Client }

// The only caller asks for the lock.
func (r *Chooser) chosen(ctx context.Context, cell *v1.Cell, lock bool) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	var patch client.Patch
	if lock {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	} else {
		patch = client.MergeFrom(base)
	}
	return r.Status().Patch(ctx, cell, patch) // want `locked: `
}

func (r *Chooser) chooses(ctx context.Context, cell *v1.Cell) error { return r.chosen(ctx, cell, true) }

// The only caller does not.
func (r *Chooser) notChosen(ctx context.Context, cell *v1.Cell, lock bool) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	patch := client.MergeFrom(base)
	if lock {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	return r.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

func (r *Chooser) doesNotChoose(ctx context.Context, cell *v1.Cell) error {
	return r.notChosen(ctx, cell, false)
}

// Two callers differ.
func (r *Chooser) both(ctx context.Context, cell *v1.Cell, lock bool) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	var patch client.Patch
	if lock {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	} else {
		patch = client.MergeFrom(base)
	}
	return r.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

func (r *Chooser) oneWay(ctx context.Context, cell *v1.Cell) error   { return r.both(ctx, cell, true) }
func (r *Chooser) otherWay(ctx context.Context, cell *v1.Cell) error { return r.both(ctx, cell, false) }

// An option of the program's own may set the lock.
type always struct{}

func (always) ApplyToMergeFrom(in *client.MergeFromOptions) { in.OptimisticLock = true }

func (r *Chooser) ownOption(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, always{})) // want `unknown: whether the option flags.always sets the lock`
}
