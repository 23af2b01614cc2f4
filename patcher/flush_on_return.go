package patcher

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// lastWrite is how long a write may take that a reconcile makes when it returns, after its context has ended.
const lastWrite = 5 * time.Second

// FlushOnReturn flushes when a reconcile returns, on every return path. Generated code passes what recover returned in the
// deferred method itself; after a panic nothing is written, and the panic continues.
//
// If *err is nil, a conflict becomes the requeue of RequeueOnConflict, the earlier of two RequeueAfters is kept, and any other
// error becomes *err. If *err is set, both errors are joined, unless *err already contains the same one. A TerminalError is
// then no longer terminal, because the status that would explain it was not stored. If a live read finds that the object is
// gone, there is nothing left to report, and no error. If ctx ends before or during the write, the write gets five more
// seconds, so that the status that explains the failure can still be stored.
//
// If result is nil, a conflict has nowhere to put its requeue and becomes an error. FlushOnReturn panics if err is nil.
func (p *Patcher[T, S]) FlushOnReturn(ctx context.Context, panicking any, result *reconcile.Result, err *error) {
	if panicking != nil {
		panic(panicking)
	}
	if err == nil {
		panic("statuspatcher: FlushOnReturn of a " + p.client.kind.Name + " needs a pointer to the error that the function returns: name its results")
	}
	flushErr := p.flushAtLast(ctx, *err)
	var gone *goneError
	switch {
	case flushErr == nil || errors.As(flushErr, &gone):
	case *err == nil:
		*err = requeueInstead(flushErr, result)
	case errors.Is(*err, flushErr):
		*err = retriable(*err)
	default:
		*err = errors.Join(retriable(*err), flushErr)
	}
}

// FlushOnSuccess is FlushOnReturn for a reconcile that must report nothing if it failed: it flushes only if *err is nil and
// nothing panicked. Otherwise the edits are dropped with the object, and *err stays as it is.
func (p *Patcher[T, S]) FlushOnSuccess(ctx context.Context, panicking any, result *reconcile.Result, err *error) {
	if panicking == nil && err != nil && *err != nil {
		return
	}
	p.FlushOnReturn(ctx, panicking, result, err)
}

// flushAtLast flushes, with the grace that a last write has, unless the reconcile already returns the error that the same
// status met on the same base.
func (p *Patcher[T, S]) flushAtLast(ctx context.Context, returned error) error {
	if p.isIdle() {
		return nil
	}
	if p.isInvalidStill() && errors.Is(returned, p.invalid.err) {
		return p.invalid.err
	}
	ctx, cancel := withGrace(ctx)
	defer cancel()
	_, err := p.Flush(ctx)
	return err
}

// withGrace returns a context that ends lastWrite after ctx does.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	graced, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-graced.Done():
		case <-time.After(lastWrite):
			cancel()
		}
	})
	return graced, func() { stop(); cancel() }
}

func requeueInstead(err error, result *reconcile.Result) error {
	requeue, left := RequeueOnConflict(err)
	switch {
	case left != nil:
		return left
	case result == nil:
		return err
	case result.RequeueAfter == 0 || requeue.RequeueAfter < result.RequeueAfter:
		result.RequeueAfter = requeue.RequeueAfter
	}
	return nil
}

func retriable(err error) error {
	if errors.Is(err, reconcile.TerminalError(nil)) {
		return &notTerminal{err}
	}
	return err
}

// notTerminal is an error that was terminal, and is otherwise the same.
type notTerminal struct{ err error }

func (e *notTerminal) Error() string { return e.err.Error() }

func (e *notTerminal) Is(target error) bool {
	return !errors.Is(target, reconcile.TerminalError(nil)) && errors.Is(e.err, target)
}

func (e *notTerminal) As(target any) bool { return errors.As(e.err, target) }
