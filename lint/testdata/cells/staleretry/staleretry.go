package staleretry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

// The object was read around the retry.
func (r *Reconciler) captured(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `stale-retry: `
	})
}

// A copy of it, with the lock.
func (r *Reconciler) copied(ctx context.Context, cell *v1.Cell) error {
	return retry.OnError(retry.DefaultRetry, apierrors.IsConflict, func() error {
		next := cell.DeepCopy()
		next.Status.Phase = "Ready"
		return r.Status().Patch(ctx, next, client.MergeFromWithOptions(cell, client.MergeFromWithOptimisticLock{})) // want `stale-retry: `
	})
}

// A loop that asks for conflicts.
func (r *Reconciler) loop(ctx context.Context, cell *v1.Cell) error {
	var err error
	for range 5 {
		if err = r.Status().Update(ctx, cell); !apierrors.IsConflict(err) { // want `stale-retry: `
			return err
		}
	}
	return err
}

// The retry is around the call of a helper.
func (r *Reconciler) helper(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `stale-retry: `
}

func (r *Reconciler) callsHelper(ctx context.Context, cell *v1.Cell) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return r.helper(ctx, cell) })
}

// The retry gets a variable.
func (r *Reconciler) held(ctx context.Context, cell *v1.Cell) error {
	write := func() error { return r.Status().Update(ctx, cell) } // want `stale-retry: `
	return retry.RetryOnConflict(retry.DefaultRetry, write)
}

// Near miss of stale-retry: each attempt reads.
func (r *Reconciler) reads(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `refetch: `
	})
}

// Near miss of stale-retry: a conflict leads to a read.
func (r *Reconciler) readsAfter(ctx context.Context, cell *v1.Cell) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell.Status.Phase = "Ready"
		err := r.Status().Update(ctx, cell) // want `refetch: `
		if apierrors.IsConflict(err) {
			if err := r.Get(ctx, client.ObjectKeyFromObject(cell), cell); err != nil {
				return err
			}
		}
		return err
	})
}

// Near miss of stale-retry: a function that cannot be seen gets the object with a client, and may read it.
func (r *Reconciler) mayRead(ctx context.Context, cell *v1.Cell, refresh func(context.Context, client.Client, *v1.Cell) error) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := refresh(ctx, r.Client, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return r.Status().Update(ctx, cell) // want `update: `
	})
}

// Near miss of stale-retry: the object is another one each time.
func (r *Reconciler) each(ctx context.Context, cells []*v1.Cell) error {
	for _, cell := range cells {
		if err := r.Status().Update(ctx, cell); err != nil && !apierrors.IsNotFound(err) { // want `update: `
			return err
		}
	}
	return nil
}

// A function of the program hands what it gets to a retry.
func again(ctx context.Context, try func(context.Context) error) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return try(ctx) })
}

func (r *Reconciler) throughHelper(ctx context.Context, cell *v1.Cell) error {
	return again(ctx, func(ctx context.Context) error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `stale-retry: `
	})
}

// It calls what it gets once, and retries something else.
func once(ctx context.Context, try func(context.Context) error, rest func() error) error {
	if err := retry.RetryOnConflict(retry.DefaultRetry, rest); err != nil {
		return err
	}
	return try(ctx)
}

func (r *Reconciler) notRetried(ctx context.Context, cell *v1.Cell) error {
	return once(ctx, func(ctx context.Context) error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `update: `
	}, func() error { return nil })
}

// A function of the program says which errors are retried.
func conflicts(err error) bool { return apierrors.IsConflict(err) }

func (r *Reconciler) ownPredicate(ctx context.Context, cell *v1.Cell) error {
	return retry.OnError(retry.DefaultRetry, conflicts, func() error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `stale-retry: `
	})
}
