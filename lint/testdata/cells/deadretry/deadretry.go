package deadretry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) retry(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		cell.Status.Phase = "Ready"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `dead-retry: `
	})
}

func (r *Reconciler) branch(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { // want `dead-retry: `
		if apierrors.IsConflict(err) {
			return ctrl.Result{Requeue: true}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) once(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"x"}}`))) // want `dead-retry: `
}

func (r *Reconciler) around(ctx context.Context, cell *v1.Cell) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return r.once(ctx, cell) })
}

func (r *Reconciler) held(ctx context.Context, cell *v1.Cell) error {
	write := func() error {
		base := cell.DeepCopy()
		cell.Status.Count++
		return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `dead-retry: `
	}
	return retry.RetryOnConflict(retry.DefaultRetry, write)
}

// A forced apply does not conflict.
func (r *Reconciler) forced(ctx context.Context) error {
	cell := &v1.Cell{}
	cell.Name = "x"
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return r.Status().Patch(ctx, cell, client.Apply, client.ForceOwnership, client.FieldOwner("x")) // want `dead-retry: `
	})
}

// Near miss of dead-retry: the lock makes the retry live.
func (r *Reconciler) locked(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		cell.Status.Phase = "Ready"
		return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
	})
}

// Near miss of dead-retry: the retry is for the update beside it.
func (r *Reconciler) beside(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Spec.Size++
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		cell.Status.Phase = "Ready"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
	})
}

// Near miss of dead-retry: an apply without force conflicts on fields.
func (r *Reconciler) unforced(ctx context.Context) error {
	cell := &v1.Cell{}
	cell.Name = "x"
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return r.Status().Patch(ctx, cell, client.Apply, client.FieldOwner("x")) // want `blind-apply: `
	})
}

// Near miss of dead-retry: another error is asked.
func (r *Reconciler) notFound(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	err := r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Near miss of dead-retry: the branch is for conflicts of the other write.
func (r *Reconciler) other(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { // want `blind-merge: `
		return err
	}
	cell.Labels = map[string]string{"ready": "yes"}
	return r.Update(ctx, cell)
}

func (r *Reconciler) asksForOther(ctx context.Context, cell *v1.Cell) error {
	if err := r.other(ctx, cell); !apierrors.IsConflict(err) {
		return err
	}
	return nil
}

// Near miss of dead-retry: a conflict is one of several reasons to try again.
func (r *Reconciler) several(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	err := r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
	if transient(err) {
		return nil
	}
	return err
}

func transient(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsConflict(err)
}

// A function of the program hands what it gets to a retry.
func again(try func() error) error { return retry.RetryOnConflict(retry.DefaultRetry, try) }

func (r *Reconciler) throughHelper(ctx context.Context, key client.ObjectKey) error {
	return again(func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		cell.Status.Phase = "Ready"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `dead-retry: `
	})
}
