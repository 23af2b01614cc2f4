// Package wrappers calls functions that are named as wrappers of status writes.
package wrappers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "example.com/cells/api/v1"
)

type writer struct{ client.Client }

// Each call is judged by what it hands over; the write in the body, by the worst of them.
func (w *writer) patch(ctx context.Context, obj client.Object, patch client.Patch) error {
	return w.Status().Patch(ctx, obj, patch) // want `blind-merge: `
}

func blind(ctx context.Context, w *writer, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return w.patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func locked(ctx context.Context, w *writer, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return w.patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) // want `locked: `
}

func logged(ctx context.Context, w *writer, cell *v1.Cell) {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	if err := w.patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil { // want `swallowed-conflict: `
		log.FromContext(ctx).Error(err, "cannot patch")
	}
}

// The write may be deeper.
func save(ctx context.Context, c client.Client, cell *v1.Cell) error { return store(ctx, c, cell) }

func store(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return c.Status().Update(ctx, cell) // want `blind-update: `
}

func saved(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return save(ctx, c, cell) // want `update: `
}

func made(ctx context.Context, c client.Client) error {
	return save(ctx, c, &v1.Cell{}) // want `blind-update: `
}

// Named, but it writes no status.
func count(cell *v1.Cell) error {
	cell.Status.Count++
	return nil
}

func counted(cell *v1.Cell) error {
	return count(cell) // want `unknown: no status write was found in the wrapper example.com/cells/wrappers.count`
}

// A function that is not named is no wrapper.
func touch(ctx context.Context, c client.Client, cell *v1.Cell) error { return save2(ctx, c, cell) }

func save2(ctx context.Context, c client.Client, cell *v1.Cell) error {
	return c.Status().Update(ctx, cell) // want `update: `
}
