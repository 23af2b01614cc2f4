// Package elsewhere calls wrappers of another package.
package elsewhere

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
	"example.com/cells/wrappers/status"
)

func patch(ctx context.Context, w *status.Writer, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return w.Patch(ctx, cell, client.MergeFrom(base)) // want `unknown: the body of the wrapper .*status.Writer..Patch cannot be seen`
}

func locked(ctx context.Context, w *status.Writer, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return w.Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `unknown: `
}

func update(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return status.Update(ctx, c, cell) // want `unknown: `
}
