package patcher

import (
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Match the errors below with errors.Is. The text that wraps them names the kind and the object, and says how to fix the
// error.
var (
	// ErrStaleBase: there is something to write, and the object's resourceVersion is no longer that of the base, because
	// something wrote or read the object behind the patcher. Nothing was written. Write metadata with PatchMetadata and the
	// spec with PatchSpec, which move the base along; after a read or a write of your own, call Refresh.
	ErrStaleBase = errors.New("the object was written or read behind the patcher")
	// ErrPendingChanges: Retry would lose edits. Either the object had unsaved edits of status or metadata when it was called:
	// Flush or Discard them first, or make them inside mutate. Or mutate changed more than the status, which is all that Retry
	// writes.
	ErrPendingChanges = errors.New("unsaved changes would be lost")
	// ErrGenerationChanged: the spec changed since it was read, so what was decided for the old spec must not be reported for
	// the new one. Requeue, or pass AllowNewerGeneration if mutate depends on nothing that was decided before.
	ErrGenerationChanged = errors.New("the spec changed since it was read")
	// ErrReplaced: the object was deleted, and another object of the same name was created. Requeue.
	ErrReplaced = errors.New("the object was replaced by another one of the same name")
	// ErrDeleting: the object is being deleted. Requeue, or pass AllowDeleting to write its status anyway.
	ErrDeleting = errors.New("the object is being deleted")
	// ErrNoStatusSubresource: the API server has the object, but no status subresource for it.
	ErrNoStatusSubresource = errors.New("the kind has no status subresource")
	// ErrNoLiveReader: the call needs a live read, and the StatusClient was made with NoLiveReader.
	ErrNoLiveReader = errors.New("no live reader")
	// ErrNoBase: Flush or Patcher was given an object whose state, as it was read, is not remembered, and the options of the
	// StatusClient leave nowhere to read it from. Read the object through the StatusClient, or call For before the first edit.
	ErrNoBase = errors.New("the state that the object was read in is not known")
	// ErrInvalidCondition: SetCondition was given a condition that the API server would refuse. The condition was left out, and
	// everything else that had changed was written.
	ErrInvalidCondition = errors.New("a condition is invalid")
	// ErrInsideMutate: the mutate function of a Retry, RetryWith, PatchMetadata or PatchSpec tried to write or refresh the
	// object that it is working on, through that patcher, another patcher or a StatusClient. Nothing was sent. Change the
	// object that mutate receives, and return: it is written then.
	ErrInsideMutate = errors.New("the object was written inside mutate")
	// ErrUnknownOutcome: the request was sent and no response says whether it was stored. The base is unchanged: if the write
	// was stored, the next one conflicts, so nothing is lost or written twice.
	ErrUnknownOutcome = errors.New("the outcome of the write is unknown")
)

// A ConflictError reports that the object changed since it was read, so the API server refused the write and stored nothing.
// It wraps the API server's error, so apierrors.IsConflict reports true for it, however often it is wrapped.
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

// A WriteOnceError reports that a write would change or remove the value of a write-once field while the parent of the field
// exists. Nothing was sent. It is a mistake in the code, or a decision that was made on a wrong state: keep the value that is
// there. To start anew, remove the parent in a write of its own; to repair a value, pass AllowRewrite.
type WriteOnceError struct {
	// Kind and Key name the object, and Path the field, in JSON names: "plan.id".
	Kind string
	Key  client.ObjectKey
	Path string
	// Old is the value that was acknowledged, and New the one that was to take its place, empty for none. A value that is not
	// a string is shown as JSON.
	Old, New string
}

func (e *WriteOnceError) Error() string {
	change := fmt.Sprintf("changed from %q to %q", e.Old, e.New)
	switch {
	case e.New == "":
		change = fmt.Sprintf("removed, which is %q", e.Old)
	case e.Old == "":
		change = fmt.Sprintf("claimed while %q is pending in the object", e.New)
	}
	return fmt.Sprintf("%s %s: status.%s is written once and cannot be %s; nothing was written: keep the value, remove the field's parent in a write of its own, or pass patcher.AllowRewrite(%q)",
		e.Kind, e.Key, e.Path, change, e.Path)
}

// Is reports whether target is a WriteOnceError of the same write.
func (e *WriteOnceError) Is(target error) bool {
	other, ok := target.(*WriteOnceError)
	return ok && *e == *other
}

// A NotOwnedError reports that a patcher of one owner was asked to write what is not that owner's. Nothing was sent. Declare the field
// or condition in the owner's marker, or leave it to the controller that owns it.
type NotOwnedError struct {
	// Kind and Key name the object, Owner the owner, and Path what it does not own, in JSON names: "plan.id", "conditions[Ready]".
	Kind  string
	Key   client.ObjectKey
	Owner string
	Path  string
}

func (e *NotOwnedError) Error() string {
	return fmt.Sprintf("%s %s: owner %s does not own status.%s; nothing was written: leave it to its owner, or declare it in +statuspatcher:owner=%s above the kind",
		e.Kind, e.Key, e.Owner, e.Path, e.Owner)
}

// Is reports whether target is a NotOwnedError of the same write.
func (e *NotOwnedError) Is(target error) bool {
	other, ok := target.(*NotOwnedError)
	return ok && *e == *other
}

// A NotRecordedError reports that Record could not write the ID of an external resource, which therefore is referenced by
// nothing: it is a duplicate, or its owner is gone. Delete the resource that Value names.
type NotRecordedError struct {
	// Kind and Key name the object, and Path the field, in JSON names: "snapshotID".
	Kind string
	Key  client.ObjectKey
	Path string
	// Value is the ID that was not recorded, and Existing the one that the field has, empty for none. A value that is not a
	// string is shown as JSON.
	Value, Existing string
	// Reason says why; errors.Is and errors.As see it through the NotRecordedError.
	Reason error
}

func (e *NotRecordedError) Error() string {
	existing := ""
	if e.Existing != "" {
		existing = fmt.Sprintf(" (the field has %q)", e.Existing)
	}
	if errors.Is(e.Reason, ErrUnknownOutcome) {
		return fmt.Sprintf("%s %s: %q may not have been recorded in status.%s%s: %v; read the object before you delete the external resource",
			e.Kind, e.Key, e.Value, e.Path, existing, e.Reason)
	}
	return fmt.Sprintf("%s %s: %q was not recorded in status.%s%s: %v; nothing refers to the external resource: delete it",
		e.Kind, e.Key, e.Value, e.Path, existing, e.Reason)
}

// Unwrap returns the Reason.
func (e *NotRecordedError) Unwrap() error { return e.Reason }

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
