// Package unmanaged has a retry, and nobody at hand who could read past the cache.
package unmanaged

import (
	"context"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler makes a cell ready.
type Reconciler struct{ client.Client }

// New makes a reconciler.
func New(c client.Client) *Reconciler { return &Reconciler{Client: c} }

// Reconcile makes the cell ready.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return r.Status().Update(ctx, cell)
	})
}
