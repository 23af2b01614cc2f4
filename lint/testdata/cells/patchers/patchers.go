package patchers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
	"example.com/cells/api/v1/v1status"
)

type Reconciler struct {
	client.Client
	cells *v1status.CellStatusClient
}

// An early return between change and flush.
func (r *Reconciler) early(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key) // want `unflushed: `
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	cell.Status.Phase = "Working"
	if cell.Spec.Size == 0 {
		return nil
	}
	_, err = p.Flush(ctx)
	return err
}

// Never flushed at all, changed through a helper of the patcher.
func (r *Reconciler) never(ctx context.Context, key client.ObjectKey) error {
	_, p, err := r.cells.Fetch(ctx, key) // want `unflushed: `
	if err != nil {
		return err
	}
	p.SetCondition(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "x"})
	return nil
}

// For an object that the caller owns.
func (r *Reconciler) owned(ctx context.Context, cell *v1.Cell) error {
	p, err := r.cells.For(cell) // want `unflushed: `
	if err != nil {
		return err
	}
	cell.Status.Count++
	if cell.Status.Count > 3 {
		_, err := p.Flush(ctx)
		return err
	}
	return nil
}

// Near miss of unflushed: deferred.
func (r *Reconciler) deferred(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	cell.Status.Phase = "Working"
	if cell.Spec.Size == 0 {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, nil
}

// Near miss of unflushed: passed on.
func (r *Reconciler) passed(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.flush(ctx, p)
}

func (r *Reconciler) flush(ctx context.Context, p *v1status.CellStatusPatcher) error {
	_, err := p.Flush(ctx)
	return err
}

// Near miss of unflushed: nothing changed on the way without a flush.
func (r *Reconciler) unchanged(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	if cell.Spec.Size == 0 {
		return nil
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}

// Near miss of unflushed: only what changed is flushed.
func (r *Reconciler) guarded(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	if p.Changed() {
		if _, err := p.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Behind the patcher: an update of the main resource,
func (r *Reconciler) updated(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	cell.Labels = map[string]string{"a": "b"}
	if err := r.Update(ctx, cell); err != nil { // want `behind-the-patcher: .*written`
		return err
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}

// a second read,
func (r *Reconciler) read(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	if err := r.Get(ctx, key, cell); err != nil { // want `behind-the-patcher: .*read again`
		return err
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}

// a status write by hand,
func (r *Reconciler) byHand(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	if err := r.Status().Update(ctx, cell); err != nil { // want `behind-the-patcher: .*written`
		return err
	}
	_, err = p.Flush(ctx)
	return err
}

// and under a deferred flush.
func (r *Reconciler) underDefer(ctx context.Context, key client.ObjectKey) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return res, err
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"a": "b"}
	return res, r.Patch(ctx, cell, client.MergeFrom(base)) // want `behind-the-patcher: .*written`
}

// Near miss of behind-the-patcher: another object.
func (r *Reconciler) another(ctx context.Context, key client.ObjectKey, other *v1.Cell) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	if err := r.Update(ctx, other); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}

// Near miss of behind-the-patcher: after the last flush.
func (r *Reconciler) after(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	if _, err := p.Flush(ctx); err != nil {
		return err
	}
	return r.Update(ctx, cell)
}

// Near miss of behind-the-patcher: metadata through the patcher.
func (r *Reconciler) metadata(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	if _, err := p.PatchMetadata(ctx, func(c *v1.Cell) { c.Labels = map[string]string{"a": "b"} }); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}

// The plan is cleared before the step that ends it. If the step fails, the cleared plan lands all the same.
func (r *Reconciler) clearedBeforeDelete(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName) // want `cleared-early: `
	if err != nil {
		return res, client.IgnoreNotFound(err)
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	cell.Status.Plan = nil
	if err := r.Delete(ctx, &v1.Cell{}); err != nil {
		return res, err
	}
	return res, nil
}

// The same with the finalizers, and an empty text.
func (r *Reconciler) clearedBeforeFinalizer(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName) // want `cleared-early: `
	if err != nil {
		return res, client.IgnoreNotFound(err)
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	cell.Status.Phase = ""
	_, err = p.PatchMetadata(ctx, func(c *v1.Cell) { c.Finalizers = nil })
	if err != nil {
		return res, err
	}
	return res, nil
}

// The same with a list, and a write that is returned.
func (r *Reconciler) clearedBeforeCreate(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName) // want `cleared-early: `
	if err != nil {
		return res, client.IgnoreNotFound(err)
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	cell.Status.Conditions = nil
	return res, r.Create(ctx, &v1.Cell{})
}

// Near miss of cleared-early: only a success is flushed.
func (r *Reconciler) clearedOnSuccess(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return res, client.IgnoreNotFound(err)
	}
	defer p.FlushOnSuccess(ctx, &res, &err)
	cell.Status.Plan = nil
	return res, r.Create(ctx, &v1.Cell{})
}

// Near miss of cleared-early: cleared after the step.
func (r *Reconciler) clearedAfter(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return res, client.IgnoreNotFound(err)
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	if err := r.Create(ctx, &v1.Cell{}); err != nil {
		return res, err
	}
	cell.Status.Plan = nil
	return res, nil
}

// Near miss of cleared-early: it is set again before the step.
func (r *Reconciler) clearedAndSet(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return res, client.IgnoreNotFound(err)
	}
	defer p.FlushOnReturn(ctx, &res, &err)
	cell.Status.Plan = nil
	if cell.Spec.Size > 0 {
		return res, nil
	}
	plan := "new"
	cell.Status.Plan = &plan
	return res, r.Create(ctx, &v1.Cell{})
}
