// Package migrate moves the handwritten status writes of an operator to generated patchers, call site by call site.
//
// A migration loads the packages once, finds every status write, and decides about each: it is moved, or left with one reason.
// A write stays where it stands: c.Status().Update(ctx, obj) and c.Status().Patch(ctx, obj, patch) become
// v1status.XKind.Flush(ctx, c, obj), which has the same result and finds the base of the object by its UID and resourceVersion.
package migrate
