package patcher

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An Observer receives an Observation of every Flush, Retry, PatchMetadata, PatchSpec, Claim and Record when it has ended, on the
// goroutine that called it. It must be safe for concurrent use.
type Observer interface {
	// Observe gets the context of the call, which may be done, and what the call did.
	Observe(ctx context.Context, o Observation)
}

// An Observation is what one call did.
type Observation struct {
	// Kind and Key name the object: "Database".
	Kind string
	Key  client.ObjectKey
	// Operation is what was called.
	Operation Operation
	// Result is empty when Error is not.
	Result Result
	// Attempts counts the writes that were sent.
	Attempts int
	// Conflicts counts those that were refused because the object had changed.
	Conflicts int
	// Duration is how long the call took, with the waits between attempts.
	Duration time.Duration
	// Error is the class of the error; empty when there was none.
	Error ErrorClass
}

// An Operation is what was called.
type Operation string

const (
	OperationFlush         Operation = "flush"          // Flush, and FlushOnReturn
	OperationRetry         Operation = "retry"          // Retry of a patcher or a StatusClient
	OperationPatchMetadata Operation = "patch_metadata" // PatchMetadata
	OperationPatchSpec     Operation = "patch_spec"     // PatchSpec
	OperationClaim         Operation = "claim"          // Claim
	OperationRecord        Operation = "record"         // Record
)

// An ErrorClass says what kind of error ended a call. There are few, so that it can be a metric's label.
type ErrorClass string

const (
	ErrorConflict ErrorClass = "conflict"  // the object changed; the next reconcile decides again
	ErrorStopped  ErrorClass = "stopped"   // Retry stopped: replaced, deleting, another generation
	ErrorMisuse   ErrorClass = "misuse"    // a mistake in the code or the CRD: a stale base, pending changes, an invalid condition, a rewrite
	ErrorGone     ErrorClass = "not_found" // the object does not exist
	ErrorUnknown  ErrorClass = "unknown"   // sent, and no answer came back
	ErrorCanceled ErrorClass = "canceled"  // the context ended before anything was sent
	ErrorRefused  ErrorClass = "refused"   // the API server refused the write: invalid, forbidden, throttled
	ErrorOther    ErrorClass = "other"     // anything else, such as mutate's own error
)

func classify(err error) ErrorClass {
	for _, c := range []struct {
		class   ErrorClass
		targets []error
	}{
		{ErrorStopped, []error{ErrGenerationChanged, ErrReplaced, ErrDeleting}},
		{ErrorMisuse, []error{ErrStaleBase, ErrPendingChanges, ErrNoStatusSubresource, ErrNoLiveReader, ErrNoBase, ErrInvalidCondition, ErrInsideMutate}},
		{ErrorUnknown, []error{ErrUnknownOutcome}},
		{ErrorCanceled, []error{context.Canceled, context.DeadlineExceeded}},
	} {
		for _, target := range c.targets {
			if errors.Is(err, target) {
				return c.class
			}
		}
	}
	var conflict *ConflictError
	var once *WriteOnceError
	var notOwned *NotOwnedError
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return ""
	case errors.As(err, &once), errors.As(err, &notOwned):
		return ErrorMisuse
	case errors.As(err, &conflict):
		return ErrorConflict
	case apierrors.IsNotFound(err):
		return ErrorGone
	case errors.As(err, &status):
		return ErrorRefused
	}
	return ErrorOther
}
