// Package retried has a retry around a write that cannot conflict.
package retried

import (
	"context"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		if cell.Status.Plan == nil {
			plan := "mine"
			cell.Status.Plan = &plan
		}
		cell.Status.Phase = "Planned"
		return r.Status().Patch(ctx, cell, client.MergeFrom(base))
	})
	return client.IgnoreNotFound(err)
}
