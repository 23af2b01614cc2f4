// Package calling calls the interface.
package calling

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
	"example.com/cells/program/patching"
)

func blind(ctx context.Context, p patching.Patcher, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return p.Patch(ctx, cell, client.MergeFrom(base))
}

func locked(ctx context.Context, p patching.Patcher, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return p.Store(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}
