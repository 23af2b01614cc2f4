package aliasedbase

import (
	"context"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) same(ctx context.Context, cell *v1.Cell) error {
	patch := client.MergeFrom(cell)
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, patch) // want `aliased-base: `
}

func (r *Reconciler) secondName(ctx context.Context, cell *v1.Cell) error {
	base := cell
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `aliased-base: `
}

func (r *Reconciler) lateCopy(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Phase = "Ready"
	base := cell.DeepCopy()
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `aliased-base: `
}

func (r *Reconciler) lateInCall(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(cell.DeepCopy(), client.MergeFromWithOptimisticLock{})) // want `aliased-base: `
}

// Near miss of aliased-base: the variable is another object by the time of the patch.
func (r *Reconciler) rebound(ctx context.Context, cell *v1.Cell) error {
	patch := client.MergeFrom(cell)
	cell = cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

// Near miss of aliased-base: changed before and after.
func (r *Reconciler) both(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Phase = "Working"
	base := cell.DeepCopy()
	cell.Status.Count++
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// Near miss of aliased-base: a callee may change it.
func (r *Reconciler) callee(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	r.decide(cell)
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) decide(cell *v1.Cell) { cell.Status.Phase = "Ready" }

// Near miss of aliased-base: through a pointer to the status.
func (r *Reconciler) pointer(ctx context.Context, cell *v1.Cell) error {
	status := &cell.Status
	base := cell.DeepCopy()
	status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// Near miss of aliased-base: the callers changed it after their copy.
func (r *Reconciler) flush(ctx context.Context, base, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) caller(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.flush(ctx, base, cell)
}

// The copy is shallow, and what is changed is shared.
func (r *Reconciler) shallow(ctx context.Context, cell *v1.Cell) error {
	base := *cell
	for i := range cell.Status.Conditions {
		cell.Status.Conditions[i].Message = "done"
	}
	return r.Status().Patch(ctx, cell, client.MergeFrom(&base)) // want `aliased-base: `
}

// A function changes the elements in place.
func (r *Reconciler) shallowCall(ctx context.Context, cell *v1.Cell) error {
	base := *cell
	meta.SetStatusCondition(&cell.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue})
	return r.Status().Patch(ctx, cell, client.MergeFrom(&base)) // want `aliased-base: `
}

// Through a pointer.
func (r *Reconciler) shallowPointer(ctx context.Context, cell *v1.Cell) error {
	base := *cell
	*cell.Status.Plan = "mine"
	return r.Status().Patch(ctx, cell, client.MergeFrom(&base)) // want `aliased-base: `
}

// Near miss of aliased-base: what is replaced is not shared.
func (r *Reconciler) shallowReplaced(ctx context.Context, cell *v1.Cell) error {
	base := *cell
	cell.Status.Phase = "Ready"
	cell.Status.Conditions = nil
	return r.Status().Patch(ctx, cell, client.MergeFrom(&base)) // want `blind-merge: `
}
