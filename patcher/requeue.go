package patcher

import (
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// RequeueOnConflict returns what Reconcile should return for an error of a patcher. If a conflict is all that went wrong (every
// leaf of err is a *ConflictError, ErrGenerationChanged, ErrReplaced or ErrDeleting), it returns a short requeue and no error:
// the next reconcile decides on the newer object. The delay is jittered. It grows from 20 ms to 2 s with the number of
// conflicts that the object has had in a row, until a write lands or a minute passes without one. Any other error is returned
// as it is, and so is a conflict of another request, such as one of server-side apply.
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

// requeueAfter walks to the leaves of err, and returns the longest delay among them.
func requeueAfter(err error) (delay time.Duration, quiet bool) {
	switch e := err.(type) {
	case *ConflictError:
		return e.requeueAfter, true
	case *stopError:
		return e.requeueAfter, true
	case *NotRecordedError:
		return 0, false // whatever its reason is, somebody has to delete the external resource
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
