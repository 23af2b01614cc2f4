package patcher

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// lastWrite is how long the write may take that a reconcile makes after its context has ended.
const lastWrite = 5 * time.Second

// FlushOnReturn flushes when a reconcile returns, by whichever return. Generated code passes what recover() answered in
// the deferred method itself; after a panic nothing is written and the panic goes on.
//
// With *err nil, a conflict becomes the quiet requeue of RequeueOnConflict, the earlier of two RequeueAfters wins, and any
// other error becomes *err. With *err set, both errors are joined; a TerminalError is then no longer terminal, since the
// status that would explain it did not land. When ctx is already done, the write gets five seconds of its own: the
// status that tells the user why must land.
func (p *Patcher[T, S]) FlushOnReturn(ctx context.Context, panicking any, result *reconcile.Result, err *error) {
	if panicking != nil {
		panic(panicking)
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
		defer cancel()
	}
	_, flushErr := p.Flush(ctx)
	switch {
	case flushErr == nil:
	case *err != nil:
		*err = errors.Join(retriable(*err), flushErr)
	default:
		requeue, left := RequeueOnConflict(flushErr)
		*err = left
		if left == nil && (result.RequeueAfter == 0 || requeue.RequeueAfter < result.RequeueAfter) {
			result.RequeueAfter = requeue.RequeueAfter
		}
	}
}

func retriable(err error) error {
	if errors.Is(err, reconcile.TerminalError(nil)) {
		return &notTerminal{err}
	}
	return err
}

// notTerminal is an error that was terminal: it answers everything as before, but that.
type notTerminal struct{ err error }

func (e *notTerminal) Error() string { return e.err.Error() }

func (e *notTerminal) Is(target error) bool {
	return !errors.Is(target, reconcile.TerminalError(nil)) && errors.Is(e.err, target)
}

func (e *notTerminal) As(target any) bool { return errors.As(e.err, target) }
