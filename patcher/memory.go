package patcher

import (
	"reflect"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory is what is remembered about the objects of one kind behind one client. All StatusClients of the kind that are
// made over the same client share it, those that are made anew in each reconcile included.
type memory[S any] struct {
	versions versions
	streaks  streaks
	bases    bases[S]
	settled  settled
}

func newMemory[S any]() *memory[S] {
	return &memory[S]{versions: newVersions(), streaks: newStreaks(), bases: newBases[S](), settled: newSettled()}
}

// memories finds the memory of a client. It keeps those of the last few clients; a StatusClient goes on using its own
// when it is forgotten here.
type memories[S any] struct {
	mu sync.Mutex
	// last has the client that was used last at the end.
	last []clientMemory[S]
}

type clientMemory[S any] struct {
	client client.Client
	memory *memory[S]
}

// maxClients is how many clients a kind keeps apart. A process has one or two; its tests have one each.
const maxClients = 8

func (m *memories[S]) of(c client.Client) *memory[S] {
	if !reflect.ValueOf(c).Comparable() {
		return newMemory[S]() // there is no telling whether another client is the same
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.last, func(known clientMemory[S]) bool { return known.client == c })
	if i == len(m.last)-1 && i >= 0 {
		return m.last[i].memory
	}
	found := clientMemory[S]{client: c}
	switch {
	case i >= 0:
		found = m.last[i]
		m.last = slices.Delete(m.last, i, i+1)
	case len(m.last) == maxClients:
		m.last = slices.Delete(m.last, 0, 1)
	}
	if found.memory == nil {
		found.memory = newMemory[S]()
	}
	m.last = append(m.last, found)
	return found.memory
}
