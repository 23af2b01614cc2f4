package patcher

import (
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// RequeueOnConflict is what Reconcile returns for an error of a patcher. When all that went wrong is that the object
// changed (every leaf of err is a *ConflictError, ErrGenerationChanged, ErrReplaced or ErrDeleting) it answers a short
// requeue and no error: the next reconcile decides on the newer object. The delay is jittered and grows, from 20 ms to
// 2 s, with the conflicts that this key has had in a row. Any other error, and a conflict that is not the patcher's, such
// as one of server-side apply's, is returned as it is.
func RequeueOnConflict(err error) (reconcile.Result, error) {
	if err == nil {
		return reconcile.Result{}, nil
	}
	delay, quiet := requeueAfter(err)
	if !quiet {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: max(delay, minRequeue)}, nil
}

// requeueAfter walks to the leaves, and answers the longest delay of them.
func requeueAfter(err error) (delay time.Duration, quiet bool) {
	switch e := err.(type) {
	case *ConflictError:
		return e.requeueAfter, true
	case *stopError:
		return e.requeueAfter, true
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return requeueAfter(inner)
		}
	case interface{ Unwrap() []error }:
		return requeueAfterAll(e.Unwrap())
	}
	return 0, errors.Is(err, ErrGenerationChanged) || errors.Is(err, ErrReplaced) || errors.Is(err, ErrDeleting)
}

func requeueAfterAll(errs []error) (delay time.Duration, quiet bool) {
	for _, err := range errs {
		d, ok := requeueAfter(err)
		if !ok {
			return 0, false
		}
		delay = max(delay, d)
	}
	return delay, len(errs) > 0
}
