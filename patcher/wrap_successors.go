package patcher

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// successors remembers which version of an object a write of its metadata or spec led to. Reconcilers often make a copy of the object
// that they have edited, write its metadata, and then write the status of the copy, which still carries the version before:
//
//	statusCopy := obj.DeepCopy()
//	c.Patch(ctx, obj, client.MergeFrom(stored))
//	c.Status().Patch(ctx, statusCopy, client.MergeFrom(stored))
//
// Apart from its version number, that copy is what a read of the newer version returns. So its status may be locked to the newer version.
// Nothing that this Go type can hold was changed by anybody else in between.
type successors struct {
	mu    sync.Mutex
	known recent[stepKey, successor]
}

type successor struct {
	uid             types.UID
	resourceVersion string
	content         content
}

// content is a hash of all that an object holds except its type, its status, its version and its managed fields.
type content [sha256.Size]byte

func newSuccessors() *successors {
	return &successors{known: recent[stepKey, successor]{limit: maxBases, age: maxLag}}
}

// put remembers a write of metadata or spec that was made of an object of the version from and is stored in obj.
func (s *successors) put(from stepKey, obj client.Object) {
	held, ok := contentHash(obj)
	if !ok || isNoVersion(from.resourceVersion) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.put(time.Now(), from, successor{obj.GetUID(), obj.GetResourceVersion(), held})
}

// last returns the newest version that is known to follow, and whether there is one.
func (s *successors) last(key stepKey) (newest successor, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range maxSteps {
		next, known := s.known.get(key)
		if !known {
			break
		}
		key.resourceVersion, newest, ok = next.resourceVersion, next, true
	}
	return newest, ok
}

// successorOf returns the version that a write of metadata or spec has led to since obj was read, if obj has that version's content, and
// if the status was the same in both.
func (w *WrappedClient) successorOf(kind *boundKind, obj client.Object, read stepKey) (resourceVersion string, ok bool) {
	newest, ok := w.successors.last(read)
	if !ok || !kind.kind.owns(obj) {
		return "", false
	}
	if held, ok := contentHash(obj); !ok || held != newest.content {
		return "", false
	}
	to := read
	to.resourceVersion = newest.resourceVersion
	same, _ := kind.sameStatus(read, to, newest.uid)
	return newest.resourceVersion, same
}

// contentHash returns the hash of an object of a registered kind; ok is false if the object is not valid JSON.
func contentHash(obj client.Object) (c content, ok bool) {
	var fields, metadata map[string]json.RawMessage
	data, err := json.Marshal(obj)
	if err != nil || json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields["metadata"], &metadata) != nil {
		return content{}, false
	}
	sum := sha256.New()
	addTo(sum, fields, "apiVersion", "kind", "metadata", "status")
	addTo(sum, metadata, "resourceVersion", "managedFields")
	return content(sum.Sum(nil)), true
}

// addTo adds the fields of a JSON object to a hash, without some of them.
func addTo(sum hash.Hash, fields map[string]json.RawMessage, without ...string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(without, name) {
			fmt.Fprintf(sum, "%q:%s,", name, fields[name])
		}
	}
	sum.Write([]byte{'}'})
}
