package locked

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) option(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

func (r *Reconciler) optionInVariable(ctx context.Context, cell *v1.Cell) error {
	opts := []client.MergeFromOption{client.MergeFromWithOptimisticLock{}}
	patch := client.MergeFromWithOptions(cell.DeepCopy(), opts...)
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, patch) // want `locked: `
}

func lockedFrom(obj client.Object) client.Patch {
	return client.MergeFromWithOptions(obj.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
}

func (r *Reconciler) fromHelper(ctx context.Context, cell *v1.Cell) error {
	patch := lockedFrom(cell)
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, patch) // want `locked: `
}

func (r *Reconciler) clearedOnBase(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	base.ResourceVersion = ""
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `locked: `
}

// Near miss of locked: neither has the version.
func (r *Reconciler) clearedOnBoth(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	base.ResourceVersion = ""
	cell.ResourceVersion = ""
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) rawVersion(ctx context.Context, cell *v1.Cell) error {
	data := []byte(fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"status":{"phase":"Ready"}}`, cell.ResourceVersion))
	return r.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, data)) // want `locked: `
}

func (r *Reconciler) mapVersion(ctx context.Context, cell *v1.Cell) error {
	patch := map[string]any{"status": map[string]any{"phase": "Ready"}}
	patch["metadata"] = map[string]any{"resourceVersion": cell.GetResourceVersion()}
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, data)) // want `locked: `
}

type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func (r *Reconciler) jsonTest(ctx context.Context, cell *v1.Cell) error {
	data, err := json.Marshal([]op{
		{Op: "test", Path: "/metadata/resourceVersion", Value: cell.ResourceVersion},
		{Op: "replace", Path: "/status/phase", Value: "Ready"},
	})
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, client.RawPatch(types.JSONPatchType, data)) // want `locked: `
}

func (r *Reconciler) applyVersion(ctx context.Context, cell *v1.Cell) error {
	next := &v1.Cell{}
	next.Name, next.Namespace = cell.Name, cell.Namespace
	next.SetResourceVersion(cell.GetResourceVersion())
	next.Status.Phase = "Ready"
	return r.Status().Patch(ctx, next, client.Apply, client.FieldOwner("cells")) // want `locked: `
}

// Before and after are swapped: the object is a copy, the base what was read.
func (r *Reconciler) copyIsPatched(ctx context.Context, cell *v1.Cell) error {
	next := cell.DeepCopy()
	next.Status.Phase = "Ready"
	return r.Status().Patch(ctx, next, client.MergeFromWithOptions(cell, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

// Near miss of locked: options without the lock.
func (r *Reconciler) noOption(ctx context.Context, cell *v1.Cell) error {
	var opts []client.MergeFromOption
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, opts...)) // want `blind-merge: `
}

// Near miss of locked: the lock is on the patch of the main resource.
func (r *Reconciler) lockElsewhere(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"a": "b"}
	if err := r.Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	base = cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}
