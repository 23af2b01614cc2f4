// Package updated updates the status of what it read: right, and moved with -ban.
package updated

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Reconciler plans a cell once.
type Reconciler struct{ client.Client }

// Reconcile plans the cell if it has no plan.
func (r *Reconciler) Reconcile(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name}, cell); err != nil {
		return client.IgnoreNotFound(err)
	}
	if cell.Status.Plan == nil {
		plan := "mine"
		cell.Status.Plan = &plan
	}
	cell.Status.Phase = "Planned"
	if err := r.Status().Update(ctx, cell); err != nil {
		return err
	}
	return nil
}
