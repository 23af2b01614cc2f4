// Package interfaces writes status behind interfaces of its own.
package interfaces

import (
	"context"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "example.com/cells/api/v1"
)

// A patch that comes in through an interface is the callers' patch.
type patching interface {
	send(ctx context.Context, cell *v1.Cell, patch client.Patch) error
}

type sender struct{ client.Client }

func (s *sender) send(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return s.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

func blind(ctx context.Context, p patching, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return p.send(ctx, cell, client.MergeFrom(base))
}

// Near miss: all callers ask for the lock.
type careful interface {
	sendLocked(ctx context.Context, cell *v1.Cell, patch client.Patch) error
}

func (s *sender) sendLocked(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return s.Status().Patch(ctx, cell, patch) // want `locked: `
}

func locked(ctx context.Context, p careful, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return p.sendLocked(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// Near miss: nothing in sight calls it; a method of the same name on another interface is another method.
type other interface {
	deliver(ctx context.Context, cell *v1.Cell, patch client.Patch, times int) error
}

func (s *sender) deliver(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return s.Status().Patch(ctx, cell, patch) // want `unknown: the patch is the parameter patch of deliver, whose callers cannot be seen`
}

func callsOther(ctx context.Context, o other, cell *v1.Cell) error {
	return o.deliver(ctx, cell, client.MergeFrom(cell.DeepCopy()), 2)
}

// An object that comes in through an interface is the callers' object.
type storing interface {
	store(ctx context.Context, cell *v1.Cell) error
}

type kept struct{ client.Client }

func (k kept) store(ctx context.Context, cell *v1.Cell) error {
	return k.Status().Update(ctx, cell) // want `blind-update: `
}

func storesNew(ctx context.Context, s storing) error {
	return s.store(ctx, &v1.Cell{Status: v1.CellStatus{Phase: "Ready"}})
}

// A method that an embedded type gives is called through the interface, too.
type resetting interface {
	reset(ctx context.Context, cell *v1.Cell) error
	name() string
}

type resetter struct{ client.Client }

func (r resetter) reset(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `blind-update: `
}

type named struct{ resetter }

func (named) name() string { return "named" }

func resets(ctx context.Context, r resetting) error { return r.reset(ctx, &v1.Cell{}) }

// Whether a call writes the object: what implements the interface says.
type phases interface {
	register(ctx context.Context, cell *v1.Cell) error
}

type registrar struct{ client.Client }

func (r registrar) register(ctx context.Context, cell *v1.Cell) error { return r.Update(ctx, cell) }

func (s *sender) after(ctx context.Context, p phases, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if err := p.register(ctx, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return s.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `stale-base: `
}

// Near miss: nothing that implements the interface writes.
type observing interface {
	observe(ctx context.Context, cell *v1.Cell) error
}

type observer struct{ client.Client }

func (o observer) observe(ctx context.Context, cell *v1.Cell) error {
	return o.Get(ctx, client.ObjectKeyFromObject(cell), &v1.Cell{})
}

func (s *sender) afterObserved(ctx context.Context, o observing, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if err := o.observe(ctx, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return s.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// Near miss: only a mock writes.
type mocked interface {
	touch(ctx context.Context, cell *v1.Cell) error
}

type quiet struct{}

func (quiet) touch(context.Context, *v1.Cell) error { return nil }

type mock struct {
	client.Client
	t testing.TB
}

func (m mock) touch(ctx context.Context, cell *v1.Cell) error { return m.Update(ctx, cell) }

func (s *sender) afterTouched(ctx context.Context, m mocked, cell *v1.Cell) error {
	base := cell.DeepCopy()
	if err := m.touch(ctx, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return s.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

// A patch that an interface makes is one of those that its types make.
type making interface {
	make(cell *v1.Cell) client.Patch
}

type maker struct{}

func (maker) make(cell *v1.Cell) client.Patch { return client.MergeFrom(cell.DeepCopy()) }

func (s *sender) madeBy(ctx context.Context, m making, cell *v1.Cell) error {
	patch := m.make(cell)
	cell.Status.Phase = "Ready"
	return s.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

// What becomes of the error is up to those who call through the interface.
type saving interface {
	save(ctx context.Context, cell *v1.Cell) error
}

func (s *sender) save(ctx context.Context, cell *v1.Cell) error {
	return s.Status().Update(ctx, cell) // want `swallowed-conflict: `
}

func saves(ctx context.Context, s saving, cell *v1.Cell) (ctrl.Result, error) {
	if err := s.save(ctx, cell); err != nil {
		log.FromContext(ctx).Error(err, "cannot save")
	}
	return ctrl.Result{}, nil
}

// Generic code calls by its constraint.
type tagging interface {
	tag(ctx context.Context, cell *v1.Cell, patch client.Patch) error
}

func (s *sender) tag(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return s.Status().Patch(ctx, cell, patch) // want `blind-merge: `
}

func tags[T tagging](ctx context.Context, t T, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return t.tag(ctx, cell, client.MergeFrom(base))
}

// A method that only hands on to another of the same interface is no caller that drops anything.
type putting interface {
	put(ctx context.Context, cell *v1.Cell) error
}

func (s *sender) put(ctx context.Context, cell *v1.Cell) error {
	return s.Status().Update(ctx, cell) // want `update: `
}

type passing struct{ to putting }

func (p passing) put(ctx context.Context, cell *v1.Cell) error { return p.to.put(ctx, cell) }
