package patcher

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bases remembers the states in which objects were read, so that code which reads an object in one function and writes
// its status in another need not pass the base along. A base is immutable and shares no memory with an object that a
// caller holds.
type bases[S any] struct {
	mu    sync.Mutex
	known recent[baseKey, *base[S]]
	// refused are the errors of bases that the API server refused, for objects that have no patcher to remember them.
	refused recent[baseKey, refusal]
}

// baseKey names one version of one object.
type baseKey struct {
	uid types.UID
	// key is empty where the UID is known. The fake client assigns none.
	key             client.ObjectKey
	resourceVersion string
}

type refusal struct {
	err error
	// until is when a requeue that the error asked for is due. The next refusal is then a new one.
	until time.Time
}

// maxBases bounds the bases of a kind in one generation of the memory: at most twice as many are kept, and the last
// maxBases that were read are always known.
const maxBases = 2_048

func newBases[S any]() bases[S] {
	return bases[S]{
		known:   recent[baseKey, *base[S]]{limit: maxBases, age: maxLag},
		refused: recent[baseKey, refusal]{limit: maxBases, age: maxLag},
	}
}

func baseKeyOf(obj client.Object) baseKey {
	return keyOfBase(client.ObjectKeyFromObject(obj), obj.GetUID(), obj.GetResourceVersion())
}

func keyOfBase(key client.ObjectKey, uid types.UID, resourceVersion string) baseKey {
	if uid != "" {
		key = client.ObjectKey{}
	}
	return baseKey{uid: uid, key: key, resourceVersion: resourceVersion}
}

func (b *bases[S]) add(now time.Time, key baseKey, base *base[S]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known.put(now, key, base)
}

// renew keeps a base as if it had just been added, and reports whether it is known.
func (b *bases[S]) renew(now time.Time, key baseKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	base, known := b.known.get(key)
	if known {
		b.known.put(now, key, base)
	}
	return known
}

// find returns the base of that version, or nil.
func (b *bases[S]) find(key baseKey) *base[S] {
	b.mu.Lock()
	defer b.mu.Unlock()
	base, _ := b.known.get(key)
	return base
}

func (b *bases[S]) refuse(now time.Time, key baseKey, err error, requeueAfter time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused.put(now, key, refusal{err: err, until: now.Add(requeueAfter)})
}

// refusalOf returns why the API server refused that version, or nil; due reports whether the requeue that the error asked
// for has had its time.
func (b *bases[S]) refusalOf(now time.Time, key baseKey) (err error, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	refused, _ := b.refused.get(key)
	return refused.err, !now.Before(refused.until)
}
