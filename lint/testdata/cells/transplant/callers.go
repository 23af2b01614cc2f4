package transplant

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// What the caller does to the object that it hands over counts.
func (r *Reconciler) write(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `transplant: `
}

func (r *Reconciler) restore(ctx context.Context, backup *v1.Cell) error {
	version := backup.ResourceVersion
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		backup.SetResourceVersion(version)
		err := r.write(ctx, backup)
		if apierrors.IsConflict(err) {
			current := &v1.Cell{}
			if err := r.Get(ctx, client.ObjectKeyFromObject(backup), current); err != nil {
				return err
			}
			version = current.GetResourceVersion()
		}
		return err
	})
}

// Near miss of transplant: the caller decides on what it has just read.
func (r *Reconciler) writeDecided(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `update: `
}

func (r *Reconciler) restoreDecided(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status = decide(cell)
	return r.writeDecided(ctx, cell)
}

// The older object's callers do not matter: it was there before the read.
func (r *Reconciler) handedOver(ctx context.Context, cell *v1.Cell) error {
	fresh := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), fresh); err != nil {
		return err
	}
	base := fresh.DeepCopy()
	fresh.Status = cell.Status
	return r.Status().Patch(ctx, fresh, client.MergeFrom(base)) // want `transplant: `
}

func (r *Reconciler) handsOver(ctx context.Context, key client.ObjectKey) error {
	var cell v1.Cell
	if err := r.Get(ctx, key, &cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.handedOver(ctx, &cell)
}

// The whole status of an unstructured object.
func (r *Reconciler) nested(ctx context.Context, key client.ObjectKey, status map[string]any) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &unstructured.Unstructured{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		if err := unstructured.SetNestedField(fresh.Object, status, "status"); err != nil {
			return err
		}
		return r.Status().Update(ctx, fresh) // want `transplant: `
	})
}

// Near miss of transplant: one of its fields.
func (r *Reconciler) nestedField(ctx context.Context, key client.ObjectKey, phase map[string]any) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &unstructured.Unstructured{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		if err := unstructured.SetNestedField(fresh.Object, phase, "status", "phase"); err != nil {
			return err
		}
		return r.Status().Update(ctx, fresh) // want `refetch: `
	})
}

// A function that is handed in puts the older status onto the fresh object.
func (r *Reconciler) change(ctx context.Context, key client.ObjectKey, mutate func(*v1.Cell)) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &v1.Cell{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		mutate(fresh)
		return r.Status().Update(ctx, fresh) // want `transplant: `
	})
}

func (r *Reconciler) changes(ctx context.Context, cell *v1.Cell) error {
	return r.change(ctx, client.ObjectKeyFromObject(cell), func(fresh *v1.Cell) { fresh.Status = cell.Status })
}

// Near miss of transplant: it decides on what it is given.
func (r *Reconciler) decideAnew(ctx context.Context, key client.ObjectKey, mutate func(*v1.Cell)) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &v1.Cell{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		mutate(fresh)
		return r.Status().Update(ctx, fresh) // want `refetch: `
	})
}

func (r *Reconciler) decidesAnew(ctx context.Context, key client.ObjectKey, phase string) error {
	return r.decideAnew(ctx, key, func(fresh *v1.Cell) {
		fresh.Status = decide(fresh)
		fresh.Status.Phase = phase
	})
}

// A helper copies it.
func take(to, from *v1.Cell) { from.Status.DeepCopyInto(&to.Status) }

func (r *Reconciler) taken(ctx context.Context, cell *v1.Cell) error {
	fresh := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), fresh); err != nil {
		return err
	}
	take(fresh, cell)
	return r.Status().Update(ctx, fresh) // want `transplant: `
}

// Near miss of transplant: the helper copies the other way.
func (r *Reconciler) given(ctx context.Context, cell *v1.Cell) error {
	fresh := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), fresh); err != nil {
		return err
	}
	take(cell, fresh)
	return r.Status().Update(ctx, fresh) // want `update: `
}

// A helper returns the fresh version.
func (r *Reconciler) current(ctx context.Context, key client.ObjectKey) (string, error) {
	latest := &v1.Cell{}
	if err := r.Get(ctx, key, latest); err != nil {
		return "", err
	}
	return latest.ResourceVersion, nil
}

func (r *Reconciler) versionByHelper(ctx context.Context, cell *v1.Cell) error {
	version, err := r.current(ctx, client.ObjectKeyFromObject(cell))
	if err != nil {
		return err
	}
	cell.ResourceVersion = version
	return r.Status().Update(ctx, cell) // want `transplant: `
}

// A copy gets it.
func (r *Reconciler) versionOnCopy(ctx context.Context, cell *v1.Cell) error {
	updated := cell.DeepCopy()
	updated.Status.Phase = "Ready"
	latest := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), latest); err != nil {
		return err
	}
	updated.SetResourceVersion(latest.GetResourceVersion())
	return r.Status().Update(ctx, updated) // want `transplant: `
}

// With all the metadata.
func (r *Reconciler) metadata(ctx context.Context, cell *v1.Cell) error {
	latest := &v1.Cell{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cell), latest); err != nil {
		return err
	}
	cell.ObjectMeta = latest.ObjectMeta
	return r.Status().Update(ctx, cell) // want `transplant: `
}

// A callback that gets the status puts the older one back.
func (r *Reconciler) changeStatus(ctx context.Context, key client.ObjectKey, mutate func(*v1.CellStatus)) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &v1.Cell{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		mutate(&fresh.Status)
		return r.Status().Update(ctx, fresh) // want `transplant: `
	})
}

func (r *Reconciler) changesStatus(ctx context.Context, cell *v1.Cell) error {
	return r.changeStatus(ctx, client.ObjectKeyFromObject(cell), func(status *v1.CellStatus) { *status = cell.Status })
}

// The callback is held in a variable.
func (r *Reconciler) changesByVariable(ctx context.Context, cell *v1.Cell) error {
	restore := func(fresh *v1.Cell) { cell.Status.DeepCopyInto(&fresh.Status) }
	return r.changeAgain(ctx, client.ObjectKeyFromObject(cell), restore)
}

func (r *Reconciler) changeAgain(ctx context.Context, key client.ObjectKey, mutate func(*v1.Cell)) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &v1.Cell{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		mutate(fresh)
		return r.Status().Update(ctx, fresh) // want `transplant: `
	})
}

// Near miss of transplant: the callback edits the status that it gets.
func (r *Reconciler) editStatus(ctx context.Context, key client.ObjectKey, mutate func(*v1.CellStatus)) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := &v1.Cell{}
		if err := r.Get(ctx, key, fresh); err != nil {
			return err
		}
		mutate(&fresh.Status)
		return r.Status().Update(ctx, fresh) // want `refetch: `
	})
}

func (r *Reconciler) editsStatus(ctx context.Context, cell *v1.Cell) error {
	return r.editStatus(ctx, client.ObjectKeyFromObject(cell), func(status *v1.CellStatus) { status.Phase = cell.Status.Phase })
}
