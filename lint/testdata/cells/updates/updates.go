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

// Read once, outside: the object is the same each time.
func (r *Reconciler) outside(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `update: `
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
