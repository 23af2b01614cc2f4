package patcher

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// streaks counts each key's consecutive conflicts, so that the requeues that follow them wait longer and longer and a key
// that never wins does not become a silent hot loop. A write that lands ends the streak, and so does time; finding
// nothing to write does not, since a conflict of the same reconcile may have gone before it.
type streaks struct {
	mu     sync.Mutex
	counts recent[client.ObjectKey, streak]
}

type streak struct {
	count int
	last  time.Time
}

const (
	minRequeue = 20 * time.Millisecond
	maxRequeue = 2 * time.Second
	// forgiven is how long after a conflict the next one counts as the first again.
	forgiven = time.Minute
)

func newStreaks() streaks {
	return streaks{counts: recent[client.ObjectKey, streak]{limit: maxKeys, age: maxLag}}
}

// lengthen counts one more conflict of the key, and returns how many there were in a row.
func (s *streaks) lengthen(now time.Time, key client.ObjectKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	streak, _ := s.counts.get(key)
	if now.Sub(streak.last) > forgiven {
		streak.count = 0
	}
	streak.count, streak.last = streak.count+1, now
	s.counts.put(now, key, streak)
	return streak.count
}

func (s *streaks) end(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.delete(key)
}

// requeueDelay doubles from minRequeue to maxRequeue, and takes between half of that and all of it.
func requeueDelay(streak int, jitter func() float64) time.Duration {
	delay := maxRequeue
	if shift := streak - 1; shift < 7 {
		delay = min(minRequeue<<shift, maxRequeue)
	}
	return max(minRequeue, delay/2+time.Duration(jitter()*float64(delay/2)))
}
