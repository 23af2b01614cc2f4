package patcher

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versions remembers, for each object, which resourceVersions the API server has left behind: those before our own last
// write, and those that it refused as outdated. A cache still returns them for a moment. What is forgotten costs a
// conflict, never a write.
type versions struct {
	mu    sync.Mutex
	known recent[client.ObjectKey, version]
}

// version is what is known of one object's.
type version struct {
	// atLeast is the oldest version that is not known to be superseded, where versions are numbers, as those of the API
	// server are.
	atLeast uint64
	// superseded are the last versions known to be superseded where they are not numbers.
	superseded [4]string
}

const (
	// maxKeys bounds the objects of a kind that something is remembered about, in one generation of the memory.
	maxKeys = 16_384
	// maxLag is how long a cache may lag behind our own writes: nothing is remembered for longer than twice this.
	maxLag = 10 * time.Minute
)

func newVersions() versions {
	return versions{known: recent[client.ObjectKey, version]{limit: maxKeys, age: maxLag}}
}

// replaced notes that our own write moved the object from one version to the next.
func (v *versions) replaced(now time.Time, key client.ObjectKey, from, to string) {
	v.update(now, key, func(known version) version {
		if n, ok := number(to); ok {
			known.atLeast = max(known.atLeast, n)
			return known
		}
		return known.without(to).and(from)
	})
}

// outdated notes that the API server has a newer version than this one, and does not say which.
func (v *versions) outdated(now time.Time, key client.ObjectKey, from string) {
	v.update(now, key, func(known version) version {
		if n, ok := number(from); ok {
			known.atLeast = max(known.atLeast, n+1)
			return known
		}
		return known.and(from)
	})
}

// isSuperseded reports whether the API server is known to have a newer version, and what that rests on. When the reader
// has caught up, nothing needs to be remembered any more.
func (v *versions) isSuperseded(key client.ObjectKey, resourceVersion string) (bool, version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known, ok := v.known.get(key)
	if !ok {
		return false, known
	}
	if known.supersedes(resourceVersion) {
		return true, known
	}
	if known.superseded[0] == "" {
		v.known.delete(key)
	}
	return false, known
}

// read notes what a live read returned that was made because of was. It is the truth also where it is older: the object
// may have been created again on a server that counts anew, or a write with an unknown outcome may not have landed.
func (v *versions) read(now time.Time, key client.ObjectKey, resourceVersion string, was version) {
	v.update(now, key, func(known version) version {
		n, ok := number(resourceVersion)
		if ok && known == was {
			known.atLeast = n
		}
		return known.without(resourceVersion)
	})
}

func (v *versions) update(now time.Time, key client.ObjectKey, change func(version) version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known, _ := v.known.get(key)
	v.known.put(now, key, change(known))
}

func (v version) supersedes(resourceVersion string) bool {
	if n, ok := number(resourceVersion); ok {
		return n < v.atLeast
	}
	return resourceVersion != "" && slices.Contains(v.superseded[:], resourceVersion)
}

func (v version) and(resourceVersion string) version {
	if !slices.Contains(v.superseded[:], resourceVersion) {
		copy(v.superseded[1:], v.superseded[:])
		v.superseded[0] = resourceVersion
	}
	return v
}

func (v version) without(resourceVersion string) version {
	if i := slices.Index(v.superseded[:], resourceVersion); i >= 0 {
		copy(v.superseded[i:], v.superseded[i+1:])
		v.superseded[len(v.superseded)-1] = ""
	}
	return v
}

func number(resourceVersion string) (uint64, bool) {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	return n, err == nil
}
