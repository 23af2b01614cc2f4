//go:build !go1.26

package patchertest

import (
	"crypto/rand"
	randv2 "math/rand/v2"
	"testing"

	googleuuid "github.com/google/uuid"
)

// seedRandom makes crypto/rand.Reader and UUIDs repeatable, which is as far as Go 1.25 lets a test go. The uuid package keeps the
// reader that it found when the program started, so it is given the seeded one.
func (e *explorer) seedRandom(t *testing.T) {
	original := rand.Reader
	seeded := randv2.NewChaCha8(seedOf(e.seed))
	rand.Reader = seeded
	googleuuid.SetRand(seeded)
	t.Cleanup(func() {
		rand.Reader = original
		googleuuid.SetRand(nil)
	})
}

func seedOf(seed uint64) (key [32]byte) {
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return key
}
