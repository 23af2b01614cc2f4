package controller

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

func TestFleetPausesItsDatabases(t *testing.T) {
	database := newDatabase(t)
	c := server.Client(t, newScheme(t))
	fleet := newFleet(t, c, database)
	startManager(t, database.Namespace)

	eventually(t, c, fleet, func(f *v1.Fleet) bool { return f.Status.Ready == 1 && f.Status.ObservedGeneration == f.Generation })
	if err := realserver.MutateSpec(t.Context(), c, fleet, func(f *v1.Fleet) { f.Spec.Paused = true }); err != nil {
		t.Fatal(err)
	}
	eventually(t, c, fleet, func(f *v1.Fleet) bool { return f.Status.Paused == 1 && f.Status.ObservedGeneration == f.Generation })
	eventually(t, c, database, observed(v1.PhasePaused))
	requireStatefulSet(t, c, database, 0)
	if !meta.IsStatusConditionTrue(database.Status.Conditions, v1.ConditionPausedByFleet) {
		t.Errorf("the Fleet's condition is lost among the Database's own: %+v", database.Status.Conditions)
	}
}

// One reconcile patches the Database's spec, which moves its resourceVersion, and then its status.
func TestFleetWritesTheChildsStatusAfterItsSpec(t *testing.T) {
	f := newSteering(t)
	if result := f.reconcile(); result.Err != nil || result.Result != (ctrl.Result{}) {
		t.Fatalf("%+v", result)
	}
	writes := slices.DeleteFunc(f.recorder.Requests(), func(r realserver.Request) bool { return r.Verb != "patch" })
	want := []string{"patch databases", "patch databases/status", "patch fleets/status"}
	if got := sequence(writes); !slices.Equal(got, want) {
		t.Fatalf("writes: %v, want %v", got, want)
	}
	for _, write := range writes[1:] {
		if write.ResourceVersion() == "" || write.Code != 200 {
			t.Errorf("%s: blind, or refused with %d", write, write.Code)
		}
	}
}

// The control to the order above: a patcher that was made before the patch of the spec refuses to write.
func TestFleetControlPatcherBeforeTheSpec(t *testing.T) {
	f := newSteering(t)
	c := server.Client(t, newScheme(t))
	status, err := NewFleetReconciler(c, c).databases.For(f.database)
	if err != nil {
		t.Fatal(err)
	}
	if err := realserver.MutateSpec(t.Context(), c, f.database, func(d *v1.Database) { d.Spec.Paused = true }); err != nil {
		t.Fatal(err)
	}
	status.SetCondition(pausedBy(f.fleet))
	if _, err := status.Flush(t.Context()); !errors.Is(err, patcher.ErrStaleBase) {
		t.Fatalf("want ErrStaleBase, found %v", err)
	}
}

func TestFleetHoldsObservedGenerationWhileAPlanRuns(t *testing.T) {
	f := newSteering(t)
	f.reconcile()
	if held := f.live().Status; held.ObservedGeneration != 0 || held.Databases != 1 {
		t.Fatalf("the Database has not followed, and the Fleet says %+v", held)
	}
	operator := NewDatabaseReconciler(f.client, f.client)
	for range 2 { // mint, execute
		if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(f.database)}); err != nil {
			t.Fatal(err)
		}
	}
	f.reconcile()
	if live := f.live(); live.Status.ObservedGeneration != live.Generation || live.Status.Paused != 1 {
		t.Fatalf("the Database has followed, and the Fleet says %+v", live.Status)
	}
}

// steering is a Fleet that is about to pause its Database, reconciled by hand.
type steering struct {
	*testing.T
	client   client.Client
	recorder *realserver.Recorder
	fleet    *v1.Fleet
	database *v1.Database
}

func newSteering(t *testing.T) *steering {
	f := &steering{T: t, recorder: &realserver.Recorder{}, database: newDatabase(t)}
	f.client = server.Client(t, newScheme(t), f.recorder.Wrap)
	f.fleet = newFleet(t, f.client, f.database)
	if err := realserver.MutateSpec(t.Context(), f.client, f.fleet, func(f *v1.Fleet) { f.Spec.Paused = true }); err != nil {
		t.Fatal(err)
	}
	f.recorder.Reset()
	return f
}

func (f *steering) reconcile() realserver.Reconcile {
	f.Helper()
	reconciler := f.recorder.Reconciler(NewFleetReconciler(f.client, f.client))
	if _, err := reconciler.Reconcile(f.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(f.fleet)}); err != nil {
		f.Fatal(err)
	}
	all := f.recorder.Reconciles()
	return all[len(all)-1]
}

func (f *steering) live() *v1.Fleet {
	f.Helper()
	if err := f.client.Get(f.Context(), client.ObjectKeyFromObject(f.fleet), f.fleet); err != nil {
		f.Fatal(err)
	}
	return f.fleet
}

// newFleet creates a Fleet that the Database is made a member of.
func newFleet(t *testing.T, c client.Client, database *v1.Database) *v1.Fleet {
	t.Helper()
	labels := map[string]string{"fleet": "shop"}
	if err := realserver.MutateSpec(t.Context(), c, database, func(d *v1.Database) { d.Labels = labels }); err != nil {
		t.Fatal(err)
	}
	fleet := &v1.Fleet{
		ObjectMeta: metav1.ObjectMeta{Namespace: database.Namespace, Name: "shop"},
		Spec:       v1.FleetSpec{Selector: metav1.LabelSelector{MatchLabels: labels}},
	}
	if err := c.Create(t.Context(), fleet); err != nil {
		t.Fatal(err)
	}
	return fleet
}

func sequence(requests []realserver.Request) (names []string) {
	for _, r := range requests {
		names = append(names, r.String())
	}
	return names
}
