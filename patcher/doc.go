// Package patcher is the runtime of generated status patchers: it makes a lost status write impossible.
//
// Two reconciles that overlap (two replicas in a leader hand-over, or one that reads a stale cache) can both see that
// status.plan is nil, both make a plan, and the second blind patch erases the first. An optimistic lock on every
// status write, against the state that the decision was made on, prevents this. statuspatcher-gen generates a StatusClient and
// a StatusPatcher for each kind, which always lock; this package is the runtime that they share.
//
// # How to use it
//
// Make a StatusClient where the controller is set up, or in each reconcile, which costs next to nothing. Reconcile fetches the
// object through it, changes the object's Status in place, as do the functions that it calls, and flushes once:
//
//	func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
//		database, status, err := r.statuses.Fetch(ctx, req.NamespacedName)
//		if err != nil {
//			return ctrl.Result{}, client.IgnoreNotFound(err)
//		}
//		defer status.FlushOnReturn(ctx, &result, &err)
//
//		if database.Status.Plan == nil {
//			database.Status.Plan = plan(database)
//		}
//		...
//	}
//
// Fetch captures the base: the status, and the version it was read at. Flush writes what changed since then, in one patch that
// the API server refuses if the object has changed; if nothing changed, it sends nothing. Write finalizers and labels with
// PatchMetadata, and the spec with PatchSpec, which move the base along: an Update or Patch of your own between Fetch and
// Flush makes the Flush fail with ErrStaleBase.
//
// FlushOnSuccess is for a reconcile that must report nothing if it failed: one that edits the status before a step that can
// fail, and must find the old status when it tries again.
//
// # Objects that are passed around
//
// Code that reads an object in one function and writes its status in another reads with Get of the StatusClient and writes with
// its Flush. The base is found by the object's UID and resourceVersion, so nothing but the object needs to be passed along,
// and it may be a copy, a list item, or what a Create or Update returned. FlushObject does the same for an object whose kind
// is not known at compile time, and StatusPatcher is the interface over all generated patchers.
//
// # Flush or Retry
//
// Flush is for a reconcile: if it conflicts, the decision rests on a state of the object that no longer exists, so the reconcile
// runs again. Retry is for a decision that depends on nothing but the object, such as adding an entry to a list: after a
// conflict it reads the object live and runs mutate again. It never reads from the cache and never replays a diff.
//
// # Fields that are written once
//
// A field that is marked +statuspatcher:writeOnce holds an identity. No Flush or Retry changes or removes its value. Claim stores a
// new value before a side effect uses it, and Record stores the ID that an external system has assigned, right after the side effect.
//
// # Errors, and what to return for each
//
// FlushOnReturn does all of this by itself. After a Flush or Retry of your own, return
//
//   - *ConflictError, ErrReplaced, ErrDeleting, ErrGenerationChanged: RequeueOnConflict(err). Nothing was written; the
//     next reconcile decides on the newer object. This is not a failure, and needs no log line or exponential backoff.
//   - ErrUnknownOutcome: the error. No response says whether the write was stored. If it was, the next reconcile sees it.
//   - a NotFound: client.IgnoreNotFound(err). The object is gone.
//   - ErrInvalidCondition: the error. Everything but that condition was written.
//   - *NotRecordedError: delete the external resource that it names, and return the error.
//   - *WriteOnceError: the error. The code would overwrite an identity, such as a plan ID.
//   - ErrStaleBase, ErrPendingChanges, ErrNoBase, ErrNoLiveReader, ErrInsideMutate: the error. The code that calls the
//     patcher has a mistake, and the text says which.
//   - ErrNoStatusSubresource: the error. The CRD that is installed lacks the status subresource.
//   - any other, such as an Invalid or a Forbidden: the error. The API server refused the write, and says why. client-go has
//     already repeated a request that got TooManyRequests ten times.
//
// The rules that every write follows, each with the test that holds it, are in docs/semantics.md.
package patcher
