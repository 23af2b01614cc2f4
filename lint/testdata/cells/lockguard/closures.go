package lockguard

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Flusher writes in closures that only it calls.
type Flusher struct{ client.Client }

// The closure runs where it is called, once on each way.
func (r *Flusher) fixClosureCalledOnce(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flush := func() error { return r.Status().Patch(ctx, cell, client.MergeFrom(base)) }
	if cell.Spec.Size < 0 {
		cell.Status.Phase = "Refused"
		return flush()
	}
	cell.Status.Phase = "Ready"
	return flush()
}

// What comes after the closure's only call does not matter.
func (r *Flusher) fixWrittenAfterClosure(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flush := func() error { return r.Status().Patch(ctx, cell, client.MergeFrom(base)) }
	cell.Status.Phase = "Ready"
	if err := flush(); err != nil {
		return err
	}
	return r.relabel(ctx, key)
}

// The second call sends the base of the first.
func (r *Flusher) keepClosureCalledTwice(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flush := func() error { return r.Status().Patch(ctx, cell, client.MergeFrom(base)) }
	cell.Status.Phase = "Planned"
	if err := flush(); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return flush()
}

// The object is written before one of the calls.
func (r *Flusher) keepWrittenBeforeClosure(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flush := func() error { return r.Status().Patch(ctx, cell, client.MergeFrom(base)) }
	if cell.Spec.Size < 0 {
		cell.Status.Phase = "Refused"
		return flush()
	}
	if err := r.relabel(ctx, key); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return flush()
}

// The closure is called in a loop.
func (r *Flusher) keepClosureInLoop(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flush := func() error { return r.Status().Patch(ctx, cell, client.MergeFrom(base)) }
	for _, phase := range []string{"Planned", "Ready"} {
		cell.Status.Phase = phase
		if err := flush(); err != nil {
			return err
		}
	}
	return nil
}

// The closure is deferred, and what comes later writes the object.
func (r *Flusher) keepClosureDeferred(ctx context.Context, key client.ObjectKey) (err error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	flush := func() { err = r.Status().Patch(ctx, cell, client.MergeFrom(base)) }
	defer flush()
	cell.Status.Phase = "Ready"
	return r.relabel(ctx, key)
}

func (r *Flusher) relabel(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Labels = map[string]string{"seen": "true"}
	return r.Update(ctx, cell)
}
