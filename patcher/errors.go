package patcher

import (
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Match the errors below with errors.Is. The text that wraps them names the kind and the object, and says how to fix it.
var (
	// ErrStaleBase: there is something to write, and the object's resourceVersion is no longer the base's. Somebody wrote
	// or read the object behind the patcher: write metadata with PatchMetadata, re-read with Refresh.
	ErrStaleBase = errors.New("the object was written or read behind the patcher")
	// ErrPendingChanges: Retry was called with unsaved edits in hand, which its re-read would lose. Flush first, or make
	// the edits inside mutate.
	ErrPendingChanges = errors.New("unsaved changes would be lost")
	// ErrGenerationChanged: the spec changed since it was read, so what was decided for the old one must not be stamped on
	// the new one. Requeue, or pass AllowNewerGeneration when mutate depends on nothing decided before.
	ErrGenerationChanged = errors.New("the spec changed since it was read")
	// ErrReplaced: the object was deleted and another one of the same name was created. Requeue.
	ErrReplaced = errors.New("the object was replaced by another one of the same name")
	// ErrDeleting: the object is being deleted. Requeue, or pass AllowDeleting to write its status all the same.
	ErrDeleting = errors.New("the object is being deleted")
	// ErrNoStatusSubresource: the API server has the object, and no status subresource for it.
	ErrNoStatusSubresource = errors.New("the kind has no status subresource")
	// ErrNoLiveReader: the call needs a live read, and the StatusClient was made with NoLiveReader.
	ErrNoLiveReader = errors.New("no live reader")
	// ErrNoBase: the object was passed to Flush or Patcher, the state that it was read in is not remembered, and the options
	// of the StatusClient leave nowhere to read it from. Read the object through the StatusClient, or call For before the
	// first edit.
	ErrNoBase = errors.New("the state that the object was read in is not known")
	// ErrInvalidCondition: SetCondition was given a condition that the API server would refuse. It was left out, and
	// everything else that had changed was written.
	ErrInvalidCondition = errors.New("a condition is invalid")
	// ErrInsideMutate: a patcher was flushed, retried or refreshed inside the mutate function of its own Retry. The status
	// that mutate leaves is written when it returns.
	ErrInsideMutate = errors.New("the patcher was called inside its own Retry")
	// ErrUnknownOutcome: the request was sent and no answer came back, so the write may have landed or not. The base is as
	// it was: if the write did land, the next one conflicts, and nothing is lost or written twice.
	ErrUnknownOutcome = errors.New("the outcome of the write is unknown")
)

// A ConflictError says that the object changed since it was read, so the write was refused and nothing was written.
// The API server's own error is wrapped, so apierrors.IsConflict is true of it, however often it is wrapped.
//
// From Reconcile, return RequeueOnConflict(err): the next reconcile sees the newer object and decides again.
type ConflictError struct {
	// Kind and Key name the object.
	Kind string
	Key  client.ObjectKey
	// ResourceVersion is that of the base, which the API server no longer holds.
	ResourceVersion string
	// Attempts counts the writes that were refused: 1 for Flush, more for Retry.
	Attempts int

	// unsettled tells that the base may still be good: the live read that would have rebased the write failed.
	unsettled    bool
	requeueAfter time.Duration
	err          error
}

func (e *ConflictError) Error() string {
	tries := ""
	if e.Attempts > 1 {
		tries = fmt.Sprintf(" in %d attempts", e.Attempts)
	}
	return fmt.Sprintf("%s %s changed since it was read at resourceVersion %s, nothing was written%s: %v",
		e.Kind, e.Key, e.ResourceVersion, tries, e.err)
}

// Unwrap returns the API server's error.
func (e *ConflictError) Unwrap() error { return e.err }

// stopError carries one of the sentinels with which Retry stops, and how long a requeue should wait.
type stopError struct {
	text         string
	reason       error
	requeueAfter time.Duration
}

func (e *stopError) Error() string { return e.text }

func (e *stopError) Unwrap() error { return e.reason }

// A goneError says that a live read found no object of that name. It wraps the API server's NotFound.
type goneError struct {
	text string
	err  error
}

func (e *goneError) Error() string { return e.text }

func (e *goneError) Unwrap() error { return e.err }

// isRefusal reports whether err, which a patcher returned, says that its base will be refused again: the object has
// changed, is another one, or is gone.
func isRefusal(err error) bool {
	var conflict *ConflictError
	var gone *goneError
	switch {
	case errors.As(err, &conflict):
		return !conflict.unsettled
	case errors.As(err, &gone):
		return true
	}
	return errors.Is(err, ErrReplaced)
}
