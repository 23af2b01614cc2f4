package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

const (
	databases = 6
	replicas  = 2
	behind    = 250 * time.Millisecond
	patience  = 6 * time.Second // the generated patcher needs about 2 for both
)

var days = []string{"monday", "tuesday"}

// setup is an operator's SetupWithManager.
type setup func(ctrl.Manager, ...controller.Wrap) error

// stage is one run of an operator.
type stage struct {
	client    client.WithWatch
	namespace string
	recorder  *realserver.Recorder
	history   *history
}

// play runs both replicas of an operator on Databases that are planned, backed up twice each, and paused as a fleet.
func play(ctx context.Context, server *realserver.Server, run operator, shown *progress) (*score, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tracker := shown.track(run.name, 2*databases)
	s, err := newStage(ctx, server, run.name)
	if err != nil {
		return nil, err
	}
	ended, err := s.start(ctx, server, run)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	backedUp := s.until(ctx, func() int { return s.count(isBackedUp) }, tracker.SetValue)
	if err := s.pause(ctx); err != nil {
		return nil, err
	}
	paused := s.until(ctx, func() int { return s.count(isPaused) }, func(n int64) { tracker.SetValue(databases + n) })
	tracker.MarkAsDone()
	result := s.score(backedUp && paused, time.Since(begin))
	stop()
	for range replicas {
		if err := <-ended; err != nil {
			return nil, err
		}
	}
	return result, nil
}

func newStage(ctx context.Context, server *realserver.Server, name string) (*stage, error) {
	c, err := client.NewWithWatch(server.Config(), client.Options{Scheme: scheme()})
	if err != nil {
		return nil, err
	}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return nil, err
	}
	s := &stage{client: c, namespace: name, recorder: &realserver.Recorder{}}
	if s.history, err = newHistory(ctx, c, name); err != nil {
		return nil, err
	}
	return s, s.completeJobs(ctx)
}

func scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // the kinds are known at compile time
		}
	}
	return scheme
}

// start runs the replicas, which are both leaders: the old one does not know yet that it is none.
func (s *stage) start(ctx context.Context, server *realserver.Server, run operator) (<-chan error, error) {
	ended := make(chan error, replicas)
	overlap := &overlap{meetings: map[string]*meeting{}}
	for replica := range replicas {
		config := server.Config(s.recorder.Wrap, overlap.wrap(replica), lag("databases", behind))
		mgr, err := ctrl.NewManager(config, s.options(run.newClient))
		if err != nil {
			return nil, err
		}
		if err := run.setup(mgr, s.recorder.Reconciler); err != nil {
			return nil, err
		}
		go func() { ended <- mgr.Start(ctx) }()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return nil, fmt.Errorf("the caches of replica %d did not sync", replica)
		}
	}
	return ended, nil
}

func (s *stage) options(newClient client.NewClientFunc) ctrl.Options {
	return ctrl.Options{
		NewClient: newClient,
		Scheme:    scheme(),
		Metrics:   metricsserver.Options{BindAddress: "0"},
		Cache:     cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		// One worker would hold its other Databases up while it waits for the other replica.
		Controller: config.Controller{SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: 2 * databases},
	}
}

func (s *stage) create(ctx context.Context) error {
	labels := map[string]string{"fleet": "shop"}
	objects := []client.Object{&v1.Fleet{ObjectMeta: s.meta("shop"), Spec: v1.FleetSpec{Selector: metav1.LabelSelector{MatchLabels: labels}}}}
	for i := range databases {
		database := &v1.Database{ObjectMeta: s.meta(fmt.Sprintf("shard-%d", i)), Spec: v1.DatabaseSpec{Image: "postgres:18"}}
		database.Labels = labels
		objects = append(objects, database)
		for _, day := range days {
			objects = append(objects, &v1.Backup{ObjectMeta: s.meta(database.Name + "." + day), Spec: v1.BackupSpec{Database: database.Name}})
		}
	}
	for _, obj := range objects {
		if err := s.client.Create(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *stage) pause(ctx context.Context) error {
	fleet := &v1.Fleet{ObjectMeta: s.meta("shop")}
	return realserver.MutateSpec(ctx, s.client, fleet, func(f *v1.Fleet) { f.Spec.Paused = true })
}

// until waits for count to reach all Databases, and reports false when patience ends first.
func (s *stage) until(ctx context.Context, count func() int, show func(int64)) bool {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		n := count()
		show(int64(n))
		return n == databases, nil
	})
	return err == nil
}

// count is how many Databases are so, in the newest version of each.
func (s *stage) count(is func(*history, *v1.Database) bool) (n int) {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	for _, database := range s.history.databases {
		if is(s.history, database) {
			n++
		}
	}
	return n
}

func isBackedUp(h *history, d *v1.Database) bool {
	return d.Status.Phase == v1.PhaseReady && d.Status.Backup == nil && len(h.over) == databases*len(days)
}

func isPaused(_ *history, d *v1.Database) bool {
	return d.Status.Phase == v1.PhasePaused && d.Status.ObservedGeneration == d.Generation && d.Status.Backup == nil
}
