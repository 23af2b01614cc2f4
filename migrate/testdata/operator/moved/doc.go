// Package moved has one file for each form in which a status write is moved; the .golden file beside it is what it becomes.
package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// Reconciler has a client that is embedded, as kubebuilder writes it.
type Reconciler struct {
	client.Client
	held *v1.Cell
}

func (r *Reconciler) read(ctx context.Context, key client.ObjectKey) (*v1.Cell, error) {
	cell := &v1.Cell{}
	return cell, r.Get(ctx, key, cell)
}
