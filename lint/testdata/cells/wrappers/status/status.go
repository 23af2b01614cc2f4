// Package status has functions that write status for others.
package status

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Writer struct{ client.Client }

// Patch sends the patch that it is given.
func (w *Writer) Patch(ctx context.Context, obj client.Object, patch client.Patch) error {
	return w.Status().Patch(ctx, obj, patch)
}

// Update writes the object that it is given, in a function of its own.
func Update(ctx context.Context, c client.Client, cell *v1.Cell) error { return update(ctx, c, cell) }

func update(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return c.Status().Update(ctx, cell)
}

// Count writes nothing.
func Count(cell *v1.Cell) error {
	cell.Status.Count++
	return nil
}
