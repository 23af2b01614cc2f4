// Package exploration_test explores the example's reconcilers as they are.
package exploration_test

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	"github.com/statuspatcher/statuspatcher/patchertest"
)

var orders = client.ObjectKey{Namespace: "default", Name: "orders"}

// newModel is one Database and the example's reconciler of it.
func newModel(t *testing.T, change ...func(*patchertest.Model)) func() patchertest.Model {
	t.Helper()
	crds, err := patchertest.ReadCRDs("../config/crd")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return func() patchertest.Model {
		m := patchertest.Model{
			Scheme: scheme, CRDs: crds,
			Objects: []client.Object{&v1.Database{
				ObjectMeta: metav1.ObjectMeta{Namespace: orders.Namespace, Name: orders.Name, Labels: map[string]string{"fleet": "all"}},
				Spec:       v1.DatabaseSpec{Image: "postgres:18"},
			}},
			Controllers: []patchertest.Controller{databases(func(*controller.DatabaseReconciler) {})},
			Invariants: []patchertest.Invariant{
				patchertest.AtMostOneEver("status.plan.id"), patchertest.NoLostStatusWrite(), patchertest.NoPanics(),
				patchertest.EventuallyObserved(), patchertest.EventuallyQuiescent(),
			},
		}
		for _, f := range change {
			f(&m)
		}
		return m
	}
}

func databases(change func(*controller.DatabaseReconciler)) patchertest.Controller {
	return patchertest.Controller{
		Name: "database", For: &v1.Database{}, Owns: []client.Object{&appsv1.StatefulSet{}},
		New: func(c client.Client, live client.Reader) reconcile.Reconciler {
			r := controller.NewDatabaseReconciler(c, live)
			change(r)
			return r
		},
	}
}

func paused(m *patchertest.Model) {
	// A new spec is planned anew: one plan a generation, not one for ever.
	m.Invariants = slices.Clone(m.Invariants[1:])
	m.Foreign = append(m.Foreign, patchertest.Mutate(orders, func(d *v1.Database) { d.Spec.Paused = true }))
}

// labelled is a foreign write that moves the resourceVersion and nothing that the reconciler decides on.
func labelled(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Mutate(orders, func(d *v1.Database) { d.Labels["seen"] = "yes" }))
}

// aFleet has a second controller write conditions of the Database.
func aFleet(m *patchertest.Model) {
	m.Invariants = []patchertest.Invariant{patchertest.AtMostOneEver("status.plan.id"), patchertest.NoLostStatusWrite(), patchertest.NoPanics()}
	m.Objects = append(m.Objects, &v1.Fleet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "all"},
		Spec:       v1.FleetSpec{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"fleet": "all"}}},
	})
	m.Controllers = append(m.Controllers, patchertest.Controller{
		Name: "fleet", For: &v1.Fleet{},
		Watches: []patchertest.Watch{{Object: &v1.Database{}, Map: func(context.Context, client.Client, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "default", Name: "all"}}}
		}}},
		New: func(c client.Client, live client.Reader) reconcile.Reconciler {
			return controller.NewFleetReconciler(c, live)
		},
	})
}

// panics has every third reconcile of a replica panic after the inner one, before its result is known.
func panics(m *patchertest.Model) {
	m.Invariants = slices.DeleteFunc(slices.Clone(m.Invariants), func(i patchertest.Invariant) bool { return i.Name() == "NoPanics" })
	inner := m.Controllers[0].New
	m.Controllers[0].New = func(c client.Client, live client.Reader) reconcile.Reconciler {
		r, n := inner(c, live), 0
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			if n++; n%3 == 0 {
				_, _ = r.Reconcile(ctx, req)
				panic(errors.New("a mistake"))
			}
			return r.Reconcile(ctx, req)
		})
	}
}

// patient lets a busy machine finish: how long a mode takes alone is logged.
var patient = patchertest.Budget(10 * time.Minute)

// What takes minutes is explored whole by make explore, and otherwise sampled.
var whole = flag.Bool("whole", false, "explore all schedules of the largest models")

func TestDatabaseReconciler(t *testing.T) {
	replicas2, stale := patchertest.Replicas(2), patchertest.StaleReads()
	for _, mode := range []struct {
		name   string
		opts   []patchertest.Option
		change []func(*patchertest.Model)
		large  bool // sampled, except by make explore
	}{
		{"two replicas", []patchertest.Option{replicas2}, nil, false},
		{"stale reads", []patchertest.Option{stale}, nil, false},
		{"a crash", []patchertest.Option{patchertest.Crashes(1)}, nil, false},
		{"a timeout", []patchertest.Option{patchertest.Timeouts(1)}, nil, false},
		{"a foreign writer", nil, []func(*patchertest.Model){labelled}, false},
		{"a foreign change of spec", nil, []func(*patchertest.Model){paused}, false},
		{"stale reads and a foreign writer", []patchertest.Option{stale}, []func(*patchertest.Model){labelled}, false},
		{"stale reads and a crash", []patchertest.Option{stale, patchertest.Crashes(1)}, nil, true},
		{"stale reads and a timeout", []patchertest.Option{stale, patchertest.Timeouts(1)}, nil, false},
		{"two replicas and a crash", []patchertest.Option{replicas2, patchertest.Crashes(1)}, nil, true},
		{"two controllers on one object", nil, []func(*patchertest.Model){aFleet}, false},
		{"a reconciler that panics", []patchertest.Option{stale}, []func(*patchertest.Model){panics}, false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			start := time.Now()
			budget := patient
			if mode.large && !*whole {
				budget = patchertest.Budget(10 * time.Second)
			}
			r := patchertest.Check(t, newModel(t, mode.change...), append(mode.opts, budget)...)
			took := time.Since(start).Round(time.Millisecond)
			if r.Violation != nil || !r.Exhaustive && (*whole || !mode.large) {
				t.Errorf("expected the reconciler to hold in every schedule, found %s after %s", r, took)
			}
			t.Logf("%s in %s", r, took)
		})
	}
}

// TestFullRecorder: an event recorder that nobody drains stops a reconciler, and is named.
func TestFullRecorder(t *testing.T) {
	recorder := func(size int) func(m *patchertest.Model) {
		return func(m *patchertest.Model) {
			m.Controllers = []patchertest.Controller{databases(func(r *controller.DatabaseReconciler) { r.Events = record.NewFakeRecorder(size) })}
		}
	}
	if r := patchertest.Check(t, newModel(t, recorder(10))); r.Violation != nil {
		t.Errorf("expected a recorder with room to do no harm, found %s", r)
	}
	r := patchertest.Check(t, newModel(t, recorder(0)))
	if r.Violation == nil || r.Violation.Invariant != "blocked" || !strings.Contains(r.Violation.Detail, "chan send") {
		t.Errorf("expected the full recorder to be named, found %s", r)
	}
}
