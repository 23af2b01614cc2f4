package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
)

// Somebody deletes the StatefulSet and creates another one of its name: the operator evicts it and makes its own.
func TestImpostorIsEvicted(t *testing.T) {
	database := newDatabase(t)
	c := server.Client(t, newScheme(t))
	startManager(t, database.Namespace)
	eventually(t, c, database, observed(v1.PhaseReady))

	own := &appsv1.StatefulSet{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(database), own); err != nil {
		t.Fatal(err)
	}
	impostor := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: own.Namespace, Name: own.Name}, Spec: own.Spec}
	if err := executor.Delete(t.Context(), c, own); err != nil {
		t.Fatal(err)
	}
	err := c.Create(t.Context(), impostor)
	if err != nil && !apierrors.IsAlreadyExists(err) { // the operator was quicker, and has made its own already
		t.Fatal(err)
	}
	eventually(t, c, database, func(d *v1.Database) bool {
		tracked := d.Status.StatefulSet
		return observed(v1.PhaseReady)(d) && tracked != nil && tracked.UID != own.UID && tracked.UID != impostor.UID
	})
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
