//go:build go1.26

package patchertest

import (
	"testing"
	"testing/cryptotest"
)

// seedRandom makes crypto/rand, and with it UUIDs, repeatable. A parallel test cannot have that.
func (e *explorer) seedRandom(t *testing.T) {
	defer func() { _ = recover() }()
	cryptotest.SetGlobalRandom(t, e.seed)
}
