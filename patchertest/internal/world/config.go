// Package world runs one schedule of a model: processes with their caches, queues and reconcilers over one simulated
// API server, every call of which waits at a gate until the scheduler lets it pass. It must run in a testing/synctest
// bubble: that is how it knows that every goroutine has come to rest.
package world

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// Config is the model, and how it is run.
type Config struct {
	Catalog     *sim.Catalog
	Clients     *Pool // kept from schedule to schedule, or nil
	Objects     []client.Object
	Controllers []Controller
	Foreign     []Foreign
	Indexes     []Index

	Replicas      int
	Stale         bool // every delivery to a cache is a step of its own
	Crashes       int
	Timeouts      int
	EarlyTimers   int           // how often a key's timer may fire while other steps are possible
	Horizon       time.Duration // how far the clock moves; 0: idleTimers timers of each key end
	OrderedWrites bool          // writes of different objects are dependent
	MaxReconciles int
	Record        bool                  // keep what a report needs
	Probe         bool                  // one more reconcile a key at the end must write nothing
	OnKind        func(patcher.AnyKind) // when a reconciler uses a generated kind, or nil
	OnCommit      func(w *World, at int) *Violation
	OnOutside     func(w *World) *Violation // after a call of an outside system, or nil
	OnQuiet       func(w *World) *Violation
}

// Controller is what the builder of controller-runtime is told.
type Controller struct {
	Name     string
	Sources  []Source
	For      *sim.Kind
	Uncached []client.Object
	New      func(c client.Client, live client.Reader) reconcile.Reconciler
}

// Source maps events of one kind to keys.
type Source struct {
	Object     client.Object
	Kind       *sim.Kind
	Handler    handler.EventHandler // or Map
	Map        func(ctx context.Context, c client.Client, obj client.Object) []reconcile.Request
	Predicates []predicate.Predicate
}

// Index is a cache index, as IndexField registers it.
type Index struct {
	Kind    *sim.Kind
	Object  client.Object
	Field   string
	Extract client.IndexerFunc
}

// Foreign is one step of a writer outside the processes. It happens at once.
type Foreign struct {
	Writer string
	Name   string
	Run    func(ctx context.Context, c client.Client) error
}

// Violation is what an invariant found.
type Violation struct {
	Invariant string
	Detail    string
	Hint      string
	Broken    bool // the model is at fault, not the reconciler
}

// Record is one step as a report shows it.
type Record struct {
	Who    string
	Call   string
	Saw    string
	Answer string
	Site   string // file:line of the caller
	System string // the outside system that was called
	Hidden bool   // of no interest to a reader
}

// versionBase makes resourceVersions recognisable: one that turns up in what a reconciler writes shows that it reads them.
const versionBase int64 = 902100000

// clockStart is the fake clock's start; ladder is how far it is moved for a goroutine that sleeps.
var ladder = []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}

type requestKey = types.NamespacedName
