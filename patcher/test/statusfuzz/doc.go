// Package statusfuzz attacks the equality and the diffs of a patcher with random pairs of statuses.
//
// Each pair is a base, as a server holds it, and a status that a controller made of it. The patcher flushes the status to
// a server in memory, which takes patches as kube-apiserver does, and the outcome is compared with a reference that
// knows nothing of the patcher: what the server should then hold, and whether a request was due.
package statusfuzz
