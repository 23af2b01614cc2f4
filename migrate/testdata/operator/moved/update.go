package moved

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// Updates in each position that an expression can have.
func (r *Reconciler) updates(ctx context.Context, key client.ObjectKey) (ctrl.Result, error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return ctrl.Result{}, err
	}
	cell.Status.Phase = "Checked"
	if err := r.Status().Update(ctx, cell); err != nil {
		return ctrl.Result{}, err
	}
	cell.Status.Phase = "Assigned"
	err := r.Client.Status().Update(ctx, cell)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cell.Status.Phase = "Dropped"
	_ = r.Status().Update(ctx, cell)
	cell.Status.Phase = "Nested"
	if client.IgnoreNotFound(r.Status().Update(ctx, cell)) != nil {
		return ctrl.Result{}, nil
	}
	defer r.Status().Update(ctx, cell)
	cell.Status.Phase = "Returned"
	return ctrl.Result{}, r.SubResource("status").Update(ctx, cell)
}

func (r *Reconciler) far(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell)
}
