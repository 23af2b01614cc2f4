package updates

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) closure(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var cell v1.Cell
		if err := r.Get(ctx, key, &cell); err != nil {
			return err
		}
		cell.Status.Count++
		return r.Status().Update(ctx, &cell) // want `refetch: `
	})
}

func (r *Reconciler) attempt(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Count++
	return r.Status().Update(ctx, cell) // want `refetch: `
}

func (r *Reconciler) around(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return r.attempt(ctx, key) })
}

func (r *Reconciler) loop(ctx context.Context, key client.ObjectKey) error {
	for {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Count++
		err := r.Status().Update(ctx, cell) // want `refetch: `
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

func pods(ctx context.Context, c kubernetes.Interface, name string) error {
	return retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
		pod, err := c.CoreV1().Pods("ns").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pod.Status.Message = "x"
		_, err = c.CoreV1().Pods("ns").UpdateStatus(ctx, pod, metav1.UpdateOptions{}) // want `refetch: `
		return err
	})
}

// Near miss of refetch: read once, outside, so the object is the same each time.
func (r *Reconciler) outside(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `stale-retry: `
	})
}

func (r *Reconciler) plain(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.Status().Update(ctx, cell) // want `update: `
}

type scope struct{ cell *v1.Cell }

func (r *Reconciler) field(ctx context.Context, s *scope) error {
	return r.Status().Update(ctx, s.cell) // want `update: `
}

func (r *Reconciler) Parameter(ctx context.Context, obj client.Object) error {
	return r.Status().Update(ctx, obj) // want `update: `
}

// Near miss of refetch: a loop over what there is, not over attempts.
func (r *Reconciler) each(ctx context.Context, keys []client.ObjectKey) error {
	for _, key := range keys {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Count++
		if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
			return err
		}
	}
	return nil
}

// Near miss of refetch: each attempt reads, and puts the same old status onto it.
func (r *Reconciler) sameStatus(ctx context.Context, key client.ObjectKey, status v1.CellStatus) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status = status
		return r.Status().Update(ctx, cell) // want `transplant: `
	})
}

// Near miss of update: it was cleared on the way.
func (r *Reconciler) clearedLater(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	next := cell.DeepCopy()
	next.ResourceVersion = ""
	return r.Status().Update(ctx, next) // want `blind-update: `
}

// Near miss of update: the conflict is nobody's concern.
func (r *Reconciler) dropped(ctx context.Context, cell *v1.Cell) {
	_ = r.Status().Update(ctx, cell) // want `swallowed-conflict: `
}

// Near miss of update: the main resource.
func (r *Reconciler) mainResource(ctx context.Context, cell *v1.Cell) error {
	return r.Update(ctx, cell)
}
