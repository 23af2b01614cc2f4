// Package testcode is production code with a helper for tests in it.
package testcode

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct {
	client.Client
	now func() time.Time
}

// WithClock is for tests only.
func WithClock(_ testing.TB, now func() time.Time) func(*Reconciler) {
	return func(r *Reconciler) { r.now = now }
}

func (r *Reconciler) plain(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = r.now().String()
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// It may ask whether it runs in a test.
func (r *Reconciler) asks(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if !testing.Testing() {
		cell.Status.Phase = "Ready"
	}
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// A test is no caller: production code hands over the lock.
func (r *Reconciler) send(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return r.Status().Patch(ctx, cell, patch) // want `locked: `
}

func (r *Reconciler) sends(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.send(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}
