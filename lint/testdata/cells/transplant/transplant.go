package transplant

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

// The whole status of an older object.
func (r *Reconciler) status(ctx context.Context, cell *v1.Cell) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest := &v1.Cell{}
		if err := r.Get(ctx, client.ObjectKeyFromObject(cell), latest); err != nil {
			return err
		}
		latest.Status = cell.Status
		return r.Status().Update(ctx, latest) // want `transplant: `
	})
}

// By DeepCopyInto, and with the lock.
func (r *Reconciler) copied(ctx context.Context, cell *v1.Cell) error {
	fresh := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), fresh); err != nil {
		return err
	}
	base := fresh.DeepCopy()
	cell.Status.DeepCopyInto(&fresh.Status)
	return r.Status().Patch(ctx, fresh, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `transplant: `
}

// A status that was there before the read.
func (r *Reconciler) parameter(ctx context.Context, key client.ObjectKey, status v1.CellStatus) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status = status
	return r.Status().Update(ctx, cell) // want `transplant: `
}

// A fresh version on an older object.
func (r *Reconciler) version(ctx context.Context, cell *v1.Cell) error {
	latest := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), latest); err != nil {
		return err
	}
	cell.ResourceVersion = latest.ResourceVersion
	return r.Status().Update(ctx, cell) // want `transplant: `
}

func (r *Reconciler) versionBySetter(ctx context.Context, cell *v1.Cell) error {
	latest := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), latest); err != nil {
		return err
	}
	cell.SetResourceVersion(latest.GetResourceVersion())
	return r.Status().Update(ctx, cell) // want `transplant: `
}

// Near miss of transplant: decided on what was just read.
func (r *Reconciler) decided(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		status := decide(cell)
		cell.Status = status
		return r.Status().Update(ctx, cell) // want `refetch: `
	})
}

func decide(cell *v1.Cell) v1.CellStatus {
	next := *cell.Status.DeepCopy()
	next.Count++
	return next
}

// Near miss of transplant: one field only.
func (r *Reconciler) field(ctx context.Context, key client.ObjectKey, phase string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Phase = phase
		return r.Status().Update(ctx, cell) // want `refetch: `
	})
}

// Near miss of transplant: the copy of the read object, its own status put back.
func (r *Reconciler) copy(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	next := cell.DeepCopy()
	next.Status = decide(cell)
	return r.Status().Update(ctx, next) // want `update: `
}

// Near miss of transplant: the object was not read again.
func (r *Reconciler) param(ctx context.Context, cell *v1.Cell, status v1.CellStatus) error {
	next := cell.DeepCopy()
	next.Status = status
	return r.Status().Update(ctx, next) // want `update: `
}

// Near miss of transplant: a literal of what the function knows.
func (r *Reconciler) literal(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status = v1.CellStatus{Phase: "Ready", Conditions: []metav1.Condition{}}
	return r.Status().Update(ctx, cell) // want `update: `
}
