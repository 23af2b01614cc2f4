package testcode

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// SetReady is for tests.
func SetReady(t *testing.T, r *Reconciler, cell *v1.Cell) {
	t.Helper()
	if err := r.send(context.Background(), cell, client.MergeFrom(cell.DeepCopy())); err != nil {
		t.Fatal(err)
	}
	if err := r.Status().Update(context.Background(), &v1.Cell{}); err != nil {
		t.Fatal(err)
	}
}

type fake struct {
	client.Client
	t *testing.T
}

func (f fake) ready(cell *v1.Cell) error {
	return f.Status().Update(context.Background(), &v1.Cell{})
}
