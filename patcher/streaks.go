package patcher

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// streaks counts each key's consecutive conflicts, so that requeues that follow them wait longer and longer and a key
// that never wins is no silent hot loop.
type streaks struct {
	mu     sync.Mutex
	counts map[client.ObjectKey]int
}

const (
	minRequeue = 20 * time.Millisecond
	maxRequeue = 2 * time.Second
	// maxStreaks bounds the memory that keys take which conflict and are then never written again.
	maxStreaks = 4096
)

// lengthen counts one more conflict of the key, and returns how many there were in a row.
func (s *streaks) lengthen(key client.ObjectKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil || len(s.counts) >= maxStreaks {
		s.counts = map[client.ObjectKey]int{}
	}
	s.counts[key]++
	return s.counts[key]
}

func (s *streaks) end(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.counts, key)
}

// requeueDelay doubles from minRequeue to maxRequeue, and takes between half of that and all of it.
func requeueDelay(streak int, jitter func() float64) time.Duration {
	delay := maxRequeue
	if shift := streak - 1; shift < 7 {
		delay = min(minRequeue<<shift, maxRequeue)
	}
	return max(minRequeue, delay/2+time.Duration(jitter()*float64(delay/2)))
}
