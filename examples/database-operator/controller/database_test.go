package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// The StatefulSet is not the one that the status tracks, though it has its name: the operator evicts it and makes its own.
func TestImpostorIsEvicted(t *testing.T) {
	database := newDatabase(t)
	c := server.Client(t, newScheme(t))
	startManager(t, database.Namespace)
	eventually(t, c, database, observed(v1.PhaseReady))

	impostor := database.Status.StatefulSet.UID
	if err := realserver.Forge(t.Context(), c, database, func(d *v1.Database) { d.Status.StatefulSet.UID = "the operator's own" }); err != nil {
		t.Fatal(err)
	}
	eventually(t, c, database, func(d *v1.Database) bool {
		tracked := d.Status.StatefulSet
		return observed(v1.PhaseReady)(d) && tracked != nil && tracked.UID != "the operator's own"
	})
	if database.Status.StatefulSet.UID == impostor {
		t.Error("the impostor was taken for the operator's own")
	}
	requireStatefulSet(t, c, database, 1)
}

func TestDatabaseIsGoneAfterItsStatefulSet(t *testing.T) {
	database := newDatabase(t)
	c := server.Client(t, newScheme(t))
	startManager(t, database.Namespace)
	eventually(t, c, database, observed(v1.PhaseReady))

	if err := c.Delete(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	gone(t, c, database)
	err := c.Get(t.Context(), client.ObjectKeyFromObject(database), &appsv1.StatefulSet{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the StatefulSet has outlived its Database: %v", err)
	}
}
