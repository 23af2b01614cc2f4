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
// dynamic clientsets, raw REST clients, wrappers and interfaces, and gives each a class. The classes are described in
// https://github.com/statuspatcher/statuspatcher/blob/main/docs/lint.md#classes.
//
// With -ban every handwritten status write is reported, right or wrong: for code that has moved over to generated
// patchers. A comment on the statement or the function allows one class, with a reason:
//
//	//statuspatcher:allow blind-merge -- this controller is the only writer, ever
//
// A write in a helper is judged with the callers that can be seen: those of the package in a vet tool and in
// golangci-lint, those of the whole module in statuspatcher-lint.
package lint

import "github.com/statuspatcher/statuspatcher/internal/lint/class"

// Doc is the analyzer's documentation, as help commands print it.
var Doc = `report status writes that can silently overwrite another's

Two reconciles that overlap read the same Kubernetes status, decide, and write. Without
optimistic concurrency the second write silently replaces the first. The analyzer finds every
write of a status subresource and reports these classes:

` + class.Summary() + `
//statuspatcher:allow CLASS -- REASON on a statement or a function allows one class there.`
