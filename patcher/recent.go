package patcher

import "time"

// recent is a map that forgets what was not put for long. It keeps two generations: when the younger one is full,
// or old, it becomes the older one, and the one before it is dropped. So the last limit keys that were put are always
// known, at most twice as many are kept, and a full map costs nothing to go on using. It is not safe for concurrent use.
type recent[K comparable, V any] struct {
	// limit is how many entries a generation has at most, and age how long it lasts.
	limit int
	age   time.Duration

	young, old map[K]V
	since      time.Time
}

func (r *recent[K, V]) get(key K) (V, bool) {
	if value, ok := r.young[key]; ok {
		return value, true
	}
	value, ok := r.old[key]
	return value, ok
}

func (r *recent[K, V]) put(now time.Time, key K, value V) {
	if r.young == nil {
		r.young, r.old, r.since = map[K]V{}, map[K]V{}, now
	}
	if _, known := r.young[key]; !known && (len(r.young) >= r.limit || now.Sub(r.since) > r.age) {
		r.young, r.old, r.since = r.old, r.young, now
		clear(r.young)
	}
	delete(r.old, key)
	r.young[key] = value
}

func (r *recent[K, V]) delete(key K) {
	delete(r.young, key)
	delete(r.old, key)
}

func (r *recent[K, V]) len() int { return len(r.young) + len(r.old) }
