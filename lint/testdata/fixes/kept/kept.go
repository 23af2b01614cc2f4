// Package kept has retries that look as if Retry could take their place, and captures that look as if they could be made
// again. Each would then do something else, so each stays as it is.
package kept

import (
	"context"
	"log"

	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/cells/api/v1"
)

// Reconciler has a manager at hand where it is set up.
type Reconciler struct{ client.Client }

// SetupWithManager takes what the manager has.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) { r.Client = mgr.GetClient() }

// The object is used after the block, with what the block read.
func (r *Reconciler) usedAfter(ctx context.Context, key client.ObjectKey) (string, error) {
	cell := &v1.Cell{}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return r.Status().Update(ctx, cell)
	})
	return cell.ResourceVersion, err
}

// The caller sees what the block read.
func (r *Reconciler) parameter(ctx context.Context, cell *v1.Cell) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := r.Get(ctx, client.ObjectKeyFromObject(cell), cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return r.Status().Update(ctx, cell)
	})
}

// An edit that the block decides not to write.
func (r *Reconciler) undecided(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		if cell.Spec.Size == 0 {
			return nil
		}
		return r.Status().Update(ctx, cell)
	})
}

// The block writes the object itself, too.
func (r *Reconciler) twoWrites(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Labels = map[string]string{"seen": "true"}
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return r.Status().Update(ctx, cell)
	})
}

// A cell that is gone is no error, and Retry would say that it is.
func (r *Reconciler) gone(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return client.IgnoreNotFound(err)
		}
		cell.Status.Phase = "Ready"
		return r.Status().Update(ctx, cell)
	})
}

// Something happens after the write.
func (r *Reconciler) goesOn(ctx context.Context, key client.ObjectKey, done chan<- string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		if err := r.Status().Update(ctx, cell); err != nil {
			return err
		}
		done <- cell.ResourceVersion
		return nil
	})
}

// Nobody hands this function a manager.
func plain(ctx context.Context, c client.Client, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := c.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return c.Status().Update(ctx, cell)
	})
}

// Two functions hand over an object each.
func (r *Reconciler) shared(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell)
}

func (r *Reconciler) first(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.shared(ctx, cell)
}

func (r *Reconciler) second(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.shared(ctx, cell)
}

// The helper is handed on as a value, and who calls it then cannot be seen.
func (r *Reconciler) asValue(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell)
}

func (r *Reconciler) handsOn(ctx context.Context, key client.ObjectKey, run func(func(context.Context, *v1.Cell) error)) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	run(r.asValue)
	return r.asValue(ctx, cell)
}

// The finalizer's update sends an edit of the spec, too.
func (r *Reconciler) editsSpec(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Spec.Size = 1
	if controllerutil.AddFinalizer(cell, "cells.example.com/finalizer") {
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell)
}

// The object is read again between the writes, behind a patcher's back.
func (r *Reconciler) readsAgain(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Planned"
	if err := r.Status().Update(ctx, cell); err != nil {
		return err
	}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell)
}

// An edit of the status that comes before the other write is part of what is sent: a new base would hide it.
func (r *Reconciler) editedBefore(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	if cell.Labels["seen"] == "" {
		cell.Labels = map[string]string{"seen": "true"}
		if err := r.Update(ctx, cell); err != nil {
			return err
		}
	}
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// Where the other write fails, the function goes on with the old base.
func (r *Reconciler) failureGoesOn(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"seen": "true"}
	err := r.Update(ctx, cell)
	cell.Status.Phase = "Ready"
	if perr := r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); perr != nil {
		return perr
	}
	return err
}

// Where it fails, that is only logged.
func (r *Reconciler) failureIsLogged(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"seen": "true"}
	if err := r.Update(ctx, cell); err != nil {
		log.Print(err)
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// The other write goes through another variable, so that this one is not made fresh.
func (r *Reconciler) throughACopy(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	labelled := cell.DeepCopy()
	labelled.Labels = map[string]string{"seen": "true"}
	if err := r.Update(ctx, labelled); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// Reconcile calls those that need a fresh object.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	for _, step := range []int{0, 1, 2, 3} {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		var err error
		switch step {
		case 0:
			err = r.editedBefore(ctx, cell)
		case 1:
			err = r.failureGoesOn(ctx, cell)
		case 2:
			err = r.throughACopy(ctx, cell)
		case 3:
			err = r.failureIsLogged(ctx, cell)
		}
		if err != nil {
			return err
		}
	}
	return plain(ctx, r.Client, key)
}
