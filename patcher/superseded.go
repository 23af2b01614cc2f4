package patcher

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// superseded remembers resourceVersions that the API server is known to have left behind: those that our own writes
// replaced, and those for which it answered a conflict. A cache still hands them out for a moment. Equality is all that
// is asked of a resourceVersion, and the memory is bounded: what is forgotten costs a conflict, never a write.
type superseded struct {
	mu       sync.Mutex
	versions map[version]struct{}
	// oldest to newest, around a ring.
	ring []version
	next int
}

type version struct {
	key             client.ObjectKey
	resourceVersion string
}

const supersededVersions = 1024

func (s *superseded) add(key client.ObjectKey, resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := version{key, resourceVersion}
	if _, known := s.versions[v]; known {
		return
	}
	if s.versions == nil {
		s.versions = map[version]struct{}{}
	}
	s.versions[v] = struct{}{}
	if len(s.ring) < supersededVersions {
		s.ring = append(s.ring, v)
		return
	}
	delete(s.versions, s.ring[s.next])
	s.ring[s.next] = v
	s.next = (s.next + 1) % supersededVersions
}

func (s *superseded) has(key client.ObjectKey, resourceVersion string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.versions[version{key, resourceVersion}]
	return known
}
