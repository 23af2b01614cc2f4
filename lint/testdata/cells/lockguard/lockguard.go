// Package lockguard has blind patches to which the lock may be added, and some for which it would conflict forever or lose the status.
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
	events  interface {
		Event(cell *v1.Cell, reason string)
	}
	hook func(ctx context.Context, c client.Client, cell *v1.Cell) error
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

// What is written is a copy of what was read.
func (r *Reconciler) fixCopy(ctx context.Context, key client.ObjectKey) error {
	var cell v1.Cell
	if err := r.Get(ctx, key, &cell); err != nil {
		return err
	}
	ready := cell.DeepCopy()
	ready.Status.Phase = "Ready"
	return r.Status().Patch(ctx, ready, client.MergeFrom(&cell), owner)
}

// The first copy's write does not make the object fresh that the second is a copy of.
func (r *Reconciler) keepSecondCopy(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	second := cell.DeepCopy()
	second.Status.Phase = "Ready"
	return r.Status().Patch(ctx, second, client.MergeFrom(base), owner)
}

func (r *Reconciler) twoCopies(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	first := cell.DeepCopy()
	first.Labels = map[string]string{"seen": "true"}
	if err := r.Update(ctx, first); err != nil {
		return err
	}
	return r.keepSecondCopy(ctx, cell)
}

// A write of the object itself decodes the answer into it.
func (r *Reconciler) fixAfterUpdate(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Labels = map[string]string{"seen": "true"}
	if err := r.Update(ctx, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// An apply does not.
func (r *Reconciler) keepAfterForeignPatch(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.Patch(ctx, &v1.Cell{ObjectMeta: cell.ObjectMeta}, client.Merge, owner); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// Each item of a list is written once, in its turn.
func (r *Reconciler) fixItem(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) eachItem(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil {
		return err
	}
	for i := range cells.Items {
		if err := r.fixItem(ctx, &cells.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// Twice in its turn.
func (r *Reconciler) keepItemTwice(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) eachItemTwice(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil {
		return err
	}
	for i := range cells.Items {
		if err := r.byKey(ctx, client.ObjectKeyFromObject(&cells.Items[i])); err != nil {
			return err
		}
		if err := r.keepItemTwice(ctx, &cells.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// In several rounds over one list.
func (r *Reconciler) keepRounds(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) rounds(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil {
		return err
	}
	for range 2 {
		for i := range cells.Items {
			if err := r.keepRounds(ctx, &cells.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Another pass over the list has written the items before.
func (r *Reconciler) keepSecondPass(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Reconciler) passes(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil {
		return err
	}
	for _, cell := range cells.Items {
		if err := r.Update(ctx, &cell); err != nil {
			return err
		}
	}
	for i := range cells.Items {
		if err := r.keepSecondPass(ctx, &cells.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// What takes no context and cannot fail sends nothing.
func (r *Reconciler) fixTold(ctx context.Context, key client.ObjectKey, decide func(*v1.Cell)) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	decide(cell)
	r.events.Event(cell, "Decided")
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// What can fail may.
func (r *Reconciler) keepFallible(ctx context.Context, key client.ObjectKey, ensure func(*v1.Cell) error) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := ensure(cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}
