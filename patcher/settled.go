package patcher

import (
	"hash/maphash"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// settled remembers which mutate functions of PatchMetadata had nothing to do. Nearly every PatchMetadata adds a finalizer
// that has been there since the first reconcile. A copy of the object would be most of its cost, and would grow with the
// object. So a function runs on a copy the first time, where any change that it makes to the spec is found. If it changed
// nothing, then it runs without a copy until the object's metadata or generation changes.
type settled struct {
	mu    sync.Mutex
	known recent[settledKey, uint64]
}

// settledKey is an object and a mutate function, by where its code is: a closure is a new value in each reconcile.
type settledKey struct {
	uid  types.UID
	code uintptr
}

func newSettled() settled {
	return settled{known: recent[settledKey, uint64]{limit: maxKeys, age: maxLag}}
}

func settledKeyOf[T client.Object](on identity, mutate func(T)) settledKey {
	return settledKey{uid: on.uid, code: reflect.ValueOf(mutate).Pointer()}
}

// has reports whether the function changed nothing in that state. What is known is verified again after a while.
func (s *settled) has(now time.Time, key settledKey, state uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known.get(key)
	return ok && known == state && now.Sub(s.known.since) <= s.known.age
}

// add notes that the function changed nothing. Without a UID the next object of the same name could not be told apart.
func (s *settled) add(now time.Time, key settledKey, state uint64) {
	if key.uid == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.put(now, key, state)
}

var stateSeed = maphash.MakeSeed()

// state is a hash of what mutate mostly decides on. The order of labels and annotations is random, so their hashes are
// added up. Two states of one hash would cost one check of the spec.
func (b *base[S]) state() uint64 {
	sum := uint64(b.identity.generation)
	if b.identity.deleting() {
		sum = ^sum
	}
	hash := func(text string) uint64 { return maphash.String(stateSeed, text) }
	pairs := b.metadata.text[:2*(b.metadata.labels+b.metadata.annotations)]
	for i := 0; i < len(pairs); i += 2 {
		part := uint64(2)
		if i >= 2*b.metadata.labels {
			part = 3
		}
		sum += hash(pairs[i]) * (part + 2*hash(pairs[i+1]))
	}
	for _, finalizer := range b.metadata.finalizers() {
		sum += 5 * hash(finalizer)
	}
	for _, o := range b.metadata.owners {
		sum += 7 * hash(string(o.ref.UID))
	}
	return sum
}
