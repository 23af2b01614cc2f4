// Package lint finds handwritten writes of Kubernetes status and says which of them lose data.
//
// # Analyzer statuspatcher
//
// statuspatcher: report status writes that can silently overwrite another's
//
// Two reconciles that overlap read the same status, decide, and write. Without optimistic concurrency the second write
// silently replaces the first:
//
//	base := cell.DeepCopy()
//	cell.Status.Plan = plan
//	r.Status().Patch(ctx, cell, client.MergeFrom(base)) // blind-merge
//
// The analyzer finds every write of a status subresource, by type, through controller-runtime's clients, typed and
// dynamic clientsets, wrappers and interfaces, and gives each a class. These classes are reported:
//
//	transplant           a status decided on an older read is put onto a fresh object, or a fresh resourceVersion onto an older one
//	stale-base           the object is written between the capture of the base and the patch
//	aliased-base         the base is the object itself, or was copied after the change: the patch is empty
//	dead-retry           a retry, or a branch, waits for a conflict that the write cannot get
//	blind-merge          client.MergeFrom without client.MergeFromWithOptimisticLock
//	blind-json           a JSON or raw merge patch with neither resourceVersion nor test
//	blind-update         an Update of an object without resourceVersion
//	blind-apply          a server-side apply without resourceVersion
//	swallowed-conflict   the conflict is dropped and nothing is queued again
//	unflushed            a generated patcher's object changes and is not flushed on every way out
//	behind-the-patcher   a client reads or writes a patcher's object between Fetch and Flush
//
// With -ban every handwritten status write is reported, right or wrong: for code that has moved over to generated
// patchers. A comment on the statement or the function allows one class, with a reason:
//
//	//statuspatcher:allow blind-merge -- this controller is the only writer, ever
//
// A write in a helper is judged with the callers that can be seen: those of the package in a vet tool and in
// golangci-lint, those of the whole module in statuspatcher-lint.
package lint

// Doc is the analyzer's documentation, as help commands print it.
const Doc = `report status writes that can silently overwrite another's

Two reconciles that overlap read the same Kubernetes status, decide, and write. Without
optimistic concurrency the second write silently replaces the first. The analyzer finds every
write of a status subresource and reports those that are blind to what happened since the
read (transplant, stale-base, aliased-base, dead-retry, blind-merge, blind-json, blind-update,
blind-apply), those whose conflict is dropped (swallowed-conflict), and generated patchers that
are not flushed or are written behind (unflushed, behind-the-patcher).

//statuspatcher:allow CLASS -- REASON on a statement or a function allows one class there.`
