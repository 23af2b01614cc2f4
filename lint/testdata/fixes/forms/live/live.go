// Package live has a retry, and a reader past the cache that its set-up sets.
package live

import (
	"context"

	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct {
	client.Client
	reader client.Reader
}

// SetupWithManager takes what the manager has.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) {
	r.Client = mgr.GetClient()
	r.reader = mgr.GetAPIReader()
}

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		if cell.Status.Phase == "Planned" {
			return nil
		}
		before := cell.DeepCopy()
		if cell.Status.Plan == nil {
			plan := "mine"
			cell.Status.Plan = &plan
		}
		cell.Status.Phase = "Planned"
		if err := r.Status().Patch(ctx, cell, client.MergeFrom(before)); err != nil {
			return err
		}
		return nil
	}); err != nil {
		return client.IgnoreNotFound(err)
	}
	return nil
}
