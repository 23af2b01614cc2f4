// Package unseen has writes of which nobody can tell, and some of which one can.
package unseen

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct {
	client.Client
	Patch client.Patch
	Make  func(client.Object) client.Patch
}

func (r *Reconciler) Parameter(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return r.Status().Patch(ctx, cell, patch) // want `unknown: the patch is the parameter patch of Parameter, whose callers cannot be seen`
}

func (r *Reconciler) field(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, r.Patch) // want `unknown: the patch is the field Patch, which other code sets`
}

func (r *Reconciler) made(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, r.Make(cell)) // want `unknown: the patch is made by r.Make, whose code cannot be seen`
}

type data struct{ client.Patch }

func (r *Reconciler) own(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, data{}) // want `unknown: the patch has the type unseen.data, whose Data method decides what is sent`
}

// Near miss of unknown: the caller is in sight.
func (r *Reconciler) seen(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return r.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

func (r *Reconciler) sees(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.seen(ctx, cell, client.MergeFrom(base))
}

// Near miss of unknown: the field is set in the package.
type holder struct{ patch client.Patch }

func (r *Reconciler) held(ctx context.Context, cell *v1.Cell) error {
	h := holder{patch: client.MergeFrom(cell.DeepCopy())}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, h.patch) // want `blind-merge: `
}

// Near miss of unknown: what makes the patch is in sight.
func from(obj client.Object) client.Patch {
	return client.MergeFrom(obj.DeepCopyObject().(client.Object))
}

func (r *Reconciler) madeInSight(ctx context.Context, cell *v1.Cell) error {
	patch := from(cell)
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

// What an unstructured object is made of is not in sight.
func Apply(ctx context.Context, c client.Client, content map[string]any) error {
	u := &unstructured.Unstructured{Object: content}
	return c.Status().Patch(ctx, u, client.Apply, client.FieldOwner("x")) // want `unknown: the object comes from code that cannot be seen`
}

var shared client.Patch

func (r *Reconciler) global(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, shared) // want `unknown: the patch is the package variable shared`
}

type option struct{ lock bool }

func (o option) ApplyToMergeFrom(in *client.MergeFromOptions) { in.OptimisticLock = o.lock }

func (r *Reconciler) options(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, option{true})) // want `unknown: whether the option unseen.option sets the lock is decided in its method`
}

func (r *Reconciler) value() func(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return r.Status().Update // want `unknown: the writer's method is handed on as a value`
}

func (r *Reconciler) creates(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Create(ctx, cell, cell) // want `unknown: the call creates through the status subresource`
}

func (r *Reconciler) Raw(ctx context.Context, cell *v1.Cell, data []byte) error {
	return r.Status().Patch(ctx, cell, client.RawPatch("application/json-patch+json", data)) // want `unknown: the patch's data is the parameter data of Raw`
}

func (r *Reconciler) element(ctx context.Context, cell *v1.Cell, patches []client.Patch) error {
	return r.Status().Patch(ctx, cell, patches[0]) // want `unknown: the patch's source cannot be traced`
}
