// Package left has the near misses: writes that are left, each with the reason that the plan gives.
package left

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/operator/api/v1"
)

type reconciler struct {
	client.Client
	mutate func(*v1.Cell)
}

func (r *reconciler) read(ctx context.Context, key client.ObjectKey) (*v1.Cell, error) {
	cell := &v1.Cell{}
	return cell, r.Get(ctx, key, cell)
}

// An edit before the base is captured is not in the patch, and would be in the flush.
func (r *reconciler) early(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "NotWritten"
	base := cell.DeepCopy()
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: the status is edited before the base is captured
}

// So is one in a caller, one by a helper, and one by a function that is not known.
func (r *reconciler) earlyCaller(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Conditions = nil
	return r.captures(ctx, cell)
}

func (r *reconciler) captures(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: the status is edited before the base is captured
}

func (r *reconciler) earlyHelper(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	setPhase(&cell.Status)
	patch := client.MergeFrom(cell.DeepCopy())
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, patch) // left: the status is edited before the base is captured
}

func setPhase(status *v1.CellStatus) { status.Phase = "NotWritten" }

func (r *reconciler) earlyUnknown(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	r.mutate(cell)
	base := cell.DeepCopy()
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: the status is edited before the base is captured
}

func withMutate() *reconciler {
	return &reconciler{mutate: func(c *v1.Cell) { c.Status.Phase = "NotWritten" }}
}

// An edit that a failed step leaves behind would land with the report of the failure.
func (r *reconciler) onError(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	if err := r.step(ctx, cell); err != nil {
		base := cell.DeepCopy()
		cell.Status.Phase = "Failed"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: the status is edited before the base is captured
	}
	return nil
}

func (r *reconciler) step(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Plan = nil
	secret := &v1.Cell{}
	if err := r.Create(ctx, secret); err != nil {
		return err
	}
	return r.Status().Update(ctx, cell) // moved
}

// The base is a copy of something else, or of an older read.
func (r *reconciler) otherObject(ctx context.Context, key client.ObjectKey, other *v1.Cell) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(other)) // left: the base is not a copy of the object that is written
}

// Nobody is known to call it.
func (r *reconciler) Exported(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: not all callers of Exported can be seen
}

// Options that Flush does not take.
func (r *reconciler) options(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Update(ctx, cell, client.DryRunAll); err != nil { // left: the write has options that Flush does not take
		return err
	}
	return r.Status().Update(ctx, cell, client.FieldOwner("me")) // left: the write has options that Flush does not take
}

// No diffs.
func (r *reconciler) noDiff(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, []byte(`{"status":{"count":1}}`))); err != nil { // left: the patch is written by hand
		return err
	}
	return r.Status().Patch(ctx, cell, client.Merge) // left: the patch is not made by client.MergeFrom
}

// The kind is not known here.
func (r *reconciler) anyKind(ctx context.Context, obj client.Object) error {
	return r.Status().Update(ctx, obj) // left: the type of the object is an interface or a type parameter
}

// The object has no version.
func (r *reconciler) made(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	cell.Name, cell.Namespace = key.Name, key.Namespace
	cell.Status.Count = 1
	return r.Status().Update(ctx, cell) // left: the object is made by the code and never read
}

// Every attempt sends the same version.
func (r *reconciler) staleRetry(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // left: the retry writes the object that was read before it
	})
}

// The status was decided on an older read.
func (r *reconciler) transplant(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Count++
	fresh := &v1.Cell{}
	if err := r.Get(ctx, key, fresh); err != nil {
		return err
	}
	fresh.Status = cell.Status
	return r.Status().Update(ctx, fresh) // left: a status decided on an older read
}

// The patch is always empty: a flush would write what never landed.
func (r *reconciler) aliased(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	patch := client.MergeFrom(cell)
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, patch) // left: base
}

// Only the writer is in sight.
func (r *reconciler) writer(ctx context.Context, cell *v1.Cell) error {
	w := r.Status()
	return w.Update(ctx, cell) // left: the client is not in sight, only its status writer
}

// The object is written through a copy before: its version is old by then.
func (r *reconciler) outdated(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	base := cell.DeepCopy()
	kept := cell.DeepCopy()
	controllerutil.AddFinalizer(kept, "example.com/keep")
	if err := r.Update(ctx, kept); err != nil {
		return err
	}
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: with a lock this write would conflict: r.Update can write the object after it was read
}

// A status write in between that changes something each time: a lock would conflict each time, too.
func (r *reconciler) counts(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // moved
}

func (r *reconciler) counted(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	base := cell.DeepCopy()
	if err := r.counts(ctx, key); err != nil {
		return err
	}
	cell.Status.Phase = "Planned"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: with a lock this write would conflict
}

// So does a time stamp, which is made in a function.
func (r *reconciler) stamps(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Phase = now()
	return r.Status().Update(ctx, cell) // moved
}

func now() string { return time.Now().String() }

func (r *reconciler) stamped(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	base := cell.DeepCopy()
	if err := r.stamps(ctx, key); err != nil {
		return err
	}
	cell.Status.Count = 1
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: with a lock this write would conflict
}

// Near miss: the write in between says the same each time. After one conflict it changes nothing any more.
func (r *reconciler) marks(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Started"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // moved
}

func (r *reconciler) marked(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	base := cell.DeepCopy()
	if err := r.marks(ctx, key); err != nil {
		return err
	}
	cell.Status.Count = 1
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // moved
}

// But if it decides whether this place is reached, the write that conflicts is never made again.
func (r *reconciler) gated(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	if cell.Status.Phase == "Started" {
		return nil
	}
	base := cell.DeepCopy()
	if err := r.marks(ctx, key); err != nil {
		return err
	}
	cell.Status.Count = 1
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: with a lock this write would conflict
}

// A goroutine writes what the code around it edits at the same time.
func (r *reconciler) goroutine(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	go func() {
		base := cell.DeepCopy()
		cell.Status.Count++
		_ = r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: it runs in a goroutine
	}()
	cell.Status.Phase = "Meanwhile"
	return nil
}

// Near miss: the goroutine has read the object for itself.
func (r *reconciler) goroutineReads(ctx context.Context, key client.ObjectKey) {
	go func() {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return
		}
		base := cell.DeepCopy()
		cell.Status.Count++
		_ = r.Status().Patch(ctx, cell, client.MergeFrom(base)) // moved
	}()
}

// CreateOrPatch writes the object and its status.
func (r *reconciler) createOrPatch(ctx context.Context, cell *v1.Cell) error {
	_, err := controllerutil.CreateOrPatch(ctx, r.Client, cell, func() error { // left: CreateOrPatch writes the object and its status in one call
		cell.Status.Count++
		return nil
	})
	return err
}

// The base is made by a call that may do more.
func (r *reconciler) snapshot(cell *v1.Cell) *v1.Cell {
	r.mutate(nil)
	return cell.DeepCopy()
}

func (r *reconciler) effects(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	base := r.snapshot(cell)
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // left: may have effects
}

// A directive keeps it.
func (r *reconciler) allowed(ctx context.Context, cell *v1.Cell) error {
	//statuspatcher:allow update -- another tool reads the whole status from the audit log
	return r.Status().Update(ctx, cell) // left: a directive allows it
}

// Another loop edits the items.
func (r *reconciler) items(ctx context.Context) error {
	list := &v1.CellList{}
	if err := r.List(ctx, list); err != nil {
		return err
	}
	for j := range list.Items {
		list.Items[j].Status.Phase = "NotWritten"
	}
	for i := range list.Items {
		item := &list.Items[i]
		base := item.DeepCopy()
		item.Status.Count++
		if err := r.Status().Patch(ctx, item, client.MergeFrom(base)); err != nil { // left: the status is edited before the base is captured
			return err
		}
	}
	return nil
}

// The response to the status write takes the label back; a flush leaves it, and the Update would send it.
func (r *reconciler) takenBack(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	cell.Labels = map[string]string{"in": "memory"}
	cell.Status.Count++
	if err := r.Status().Update(ctx, cell); err != nil { // left: taken back by the response
		return err
	}
	controllerutil.AddFinalizer(cell, "example.com/keep")
	return r.Update(ctx, cell)
}

// Near misses of that: the label is written before, or nothing is written after.
func (r *reconciler) writtenBefore(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	cell.Labels = map[string]string{"on": "the server"}
	if err := r.Update(ctx, cell); err != nil {
		return err
	}
	cell.Status.Count++
	if err := r.Status().Update(ctx, cell); err != nil { // moved
		return err
	}
	controllerutil.AddFinalizer(cell, "example.com/keep")
	return r.Update(ctx, cell)
}

func (r *reconciler) writtenNever(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	cell.Labels = map[string]string{"in": "memory"}
	cell.Status.Count++
	return r.Status().Update(ctx, cell) // moved
}
