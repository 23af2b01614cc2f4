// Package publish packs the modules of this repository that are published as a module proxy would serve them, from a checkout. The
// release command cuts releases with it, and tests use it to consume the modules the way an operator does: at a version, with no
// replace directive anywhere.
package publish
