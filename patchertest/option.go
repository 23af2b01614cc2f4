package patchertest

import "time"

// Option sets what is explored, and how far.
type Option func(*settings)

type settings struct {
	replicas      int
	stale         bool
	crashes       int
	timeouts      int
	earlyTimers   int
	horizon       time.Duration
	maxReconciles int
	maxSchedules  int
	budget        time.Duration
	watchdog      time.Duration
	reduce        bool
	seed          uint64
	samples       int
	ordered       bool
	without       []string
}

func defaults() settings {
	return settings{
		replicas: 1, earlyTimers: 1, maxReconciles: 100, maxSchedules: 200_000, budget: 60 * time.Second,
		watchdog: 5 * time.Second, reduce: true, seed: 1, samples: 2000,
	}
}

// Replicas runs every controller in n processes at once, each with its own cache: a leader hand-over. The default is 1.
func Replicas(n int) Option { return func(s *settings) { s.replicas = max(n, 1) } }

// StaleReads makes every delivery of a watch event to a cache a step of its own, to be tried early and late. Without it
// caches learn of a write at once.
func StaleReads() Option { return func(s *settings) { s.stale = true } }

// Crashes lets up to n processes crash in a schedule, before or after any call or at rest, and start again.
func Crashes(n int) Option { return func(s *settings) { s.crashes = n } }

// Timeouts lets up to n live calls of a schedule, Calls of outside systems included, fail by timeout; what the call does
// was then done, or was not.
func Timeouts(n int) Option { return func(s *settings) { s.timeouts = n } }

// EarlyTimers lets the first n timers of a key (RequeueAfter, or the backoff of an error; 30 seconds at most) end while other
// steps are possible. After that, and for longer timers, time passes when nothing else is left to do: then the timer that
// is due first ends. The default is 1.
func EarlyTimers(n int) Option { return func(s *settings) { s.earlyTimers = n } }

// Horizon lets timers end until d of simulated time has passed. Without it ten timers of each key end, however long they
// are, so that pollers and schedules work and heartbeats come to an end.
func Horizon(d time.Duration) Option { return func(s *settings) { s.horizon = d } }

// MaxReconciles is how many reconciles a schedule may have while no time passes; more is a livelock. From half of them on,
// what has waited longest comes next, so that no late delivery is taken for a livelock. The default is 100.
func MaxReconciles(n int) Option { return func(s *settings) { s.maxReconciles = n } }

// MaxSchedules is how many schedules are run before the exploration falls back to sampling. The default is 200000.
func MaxSchedules(n int) Option { return func(s *settings) { s.maxSchedules = n } }

// Budget is how long an exploration may take. If three quarters of it were not enough for every schedule, the rest is used to
// sample. The default is a minute.
func Budget(d time.Duration) Option { return func(s *settings) { s.budget = d } }

// Watchdog is how long a step may take in real time before the model is reported as stuck. The default is 5 seconds.
func Watchdog(d time.Duration) Option { return func(s *settings) { s.watchdog = d } }

// Seed of the random schedules that are run over budget, and of the randomness that reconcilers see. The default is 1.
func Seed(n uint64) Option { return func(s *settings) { s.seed = n } }

// Samples is how many random schedules are run over budget. The default is 2000.
func Samples(n int) Option { return func(s *settings) { s.samples = n } }

// NoReduction runs every order of all steps, those included that differ in nothing. It is there to check the reduction.
func NoReduction() Option { return func(s *settings) { s.reduce = false } }

// OrderedWrites treats writes of different objects as dependent on each other. It is needed only where a reconciler
// compares resourceVersions of different objects; where one stores them, or an invariant reads several objects, that
// is found out.
func OrderedWrites() Option { return func(s *settings) { s.ordered = true } }
