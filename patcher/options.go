package patcher

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// An Option configures a StatusClient when it is made.
type Option func(*options)

type options struct {
	rebase            bool
	mirrorTransitions bool
	listEntries       bool
	sharedCache       bool
	transformedCache  bool
	observer          Observer
	clock             Clock
	jitter            func() float64
}

func newOptions(opts []Option) options {
	o := options{clock: wallClock{}, jitter: random}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// random returns a number in [0, 1). It is drawn rarely, and from crypto/rand, since that is what the test kit seeds: a random pause then
// is the same whenever a schedule is run again.
func random() float64 {
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // it never fails
	return float64(binary.LittleEndian.Uint64(bits[:])>>11) / (1 << 53)
}

// RebaseOnConflict lets Flush survive a conflict that does not concern its decision, such as another controller's finalizer or
// owner reference. After a conflict it reads the object live, once, and sends the same patch under the new resourceVersion if
// UID, spec, deletionTimestamp, labels, annotations and the whole status are those of the base. Otherwise, and if metadata has
// unsaved edits, Flush returns the conflict. It needs a live reader.
func RebaseOnConflict() Option { return func(o *options) { o.rebase = true } }

// MirrorTransitionTimes sends lastTransitionTime as it stands, for conditions that mirror another object's. By default a
// condition whose status did not change keeps the time of the base, however it was rebuilt.
func MirrorTransitionTimes() Option { return func(o *options) { o.mirrorTransitions = true } }

// PatchListEntries writes lists entry by entry, in a JSON patch under the same lock: fields that the Go type does not know
// survive in the entries that a write does not remove, and a request has the size of what changed, not of the list. It
// applies to lists of objects that can be told apart, in the base and in the status, by the field that the struct
// tag patchMergeKey names, or else by their first string field without omitempty, such as a condition's type. A list whose
// entries change places, and any other list, is replaced whole, as without the option.
func PatchListEntries() Option { return func(o *options) { o.listEntries = true } }

// CacheIsShared is for a manager whose cache hands out its own objects (cache.Options' UnsafeDisableDeepCopy, or
// client.UnsafeDisableDeepCopy). For and Flush then give the caller's object a status of its own before anything is
// written to it, so call For before the first edit; and the cache does not serve as a base, since edits may be in it.
func CacheIsShared() Option { return func(o *options) { o.sharedCache = true } }

// CacheIsTransformed is for a manager whose cache strips fields from its objects (cache.Options' DefaultTransform and
// ByObject.Transform). A live read then does not serve as the base of an object from the cache: fields that the transform
// strips from status would look as if they had been deleted. RebaseOnConflict then compares the labels and annotations
// that the object has, not those that only the server has.
func CacheIsTransformed() Option { return func(o *options) { o.transformedCache = true } }

// WithObserver reports every Flush, Retry, PatchMetadata and PatchSpec to observer.
func WithObserver(observer Observer) Option { return func(o *options) { o.observer = observer } }

// WithClock replaces the wall clock, for tests.
func WithClock(clock Clock) Option { return func(o *options) { o.clock = clock } }

// WithJitter replaces the source of jitter, for tests: a function that returns numbers in [0, 1).
func WithJitter(jitter func() float64) Option { return func(o *options) { o.jitter = jitter } }

// A Clock tells the time and waits. It is a part of k8s.io/utils/clock.Clock.
type Clock interface {
	Now() time.Time                       // as time.Now
	After(time.Duration) <-chan time.Time // as time.After
}

type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// A RetryOption configures one call of Retry.
type RetryOption func(*retryOptions)

type retryOptions struct {
	attempts             int
	allowDeleting        bool
	allowNewerGeneration bool
	allowRewrite         []string
}

const defaultAttempts = 8

func newRetryOptions(opts []RetryOption) retryOptions {
	o := retryOptions{attempts: defaultAttempts}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Attempts bounds how many writes Retry tries; 8 by default, at least 1.
func Attempts(n int) RetryOption { return func(o *retryOptions) { o.attempts = max(n, 1) } }

// AllowDeleting lets Retry write the status of an object that is being deleted.
func AllowDeleting() RetryOption { return func(o *retryOptions) { o.allowDeleting = true } }

// AllowNewerGeneration lets a patcher's Retry go on when the spec changed since the object was fetched: mutate must then
// depend on nothing but the object that it is given.
func AllowNewerGeneration() RetryOption {
	return func(o *retryOptions) { o.allowNewerGeneration = true }
}

// A FlushOption configures one call of FlushWith. It is a RetryOption, too; of the options of Retry, only AllowRewrite means
// something to a Flush.
type FlushOption = RetryOption

// AllowRewrite lets one call of FlushWith or Retry change or remove the values of these write-once fields, such as "plan.id".
// It is for repairs: whatever used the old value still uses it.
func AllowRewrite(paths ...string) RetryOption {
	return func(o *retryOptions) { o.allowRewrite = append(o.allowRewrite, paths...) }
}
