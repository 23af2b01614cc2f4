// Package controller is the example operator as it is written by hand: the kinds, planner and executor of database-operator,
// with its own calls of Status().Patch and Status().Update. Each looks right on its own, passed a review somewhere, and
// loses a status. The mistakes are numbered; examples/mistakes shows each of them failing here and not in database-operator.
//
//   - L0 A plan, a claim or a condition is decided on a stale read and written without a lock: it erases another one.
//   - L1 The UID of a new StatefulSet is stamped in memory, its write is lost, and the next reconcile deletes it as an impostor.
//   - L2 The previous condition is a pointer into the slice that is changed: no transition is ever seen.
//   - L3 The base is captured again from an object with edits whose write failed: they are never written.
//   - L4 An error return between capture and write throws away the status that would have told the user why.
//   - L5 The finalizer is written between capture and write: the first status write conflicts every time.
//   - L6 A conflict is returned as an error, into the exponential backoff.
//
// Do not copy from here.
package controller
