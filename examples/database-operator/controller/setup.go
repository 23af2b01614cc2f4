package controller

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Recorder is what the controllers need of record.EventRecorder.
type Recorder interface {
	Event(object runtime.Object, eventType, reason, message string)
}

// Wrap goes around each reconciler before it is registered; tests count and hold reconciles with it.
type Wrap func(reconcile.Reconciler) reconcile.Reconciler

// SetupWithManager registers the three controllers.
func SetupWithManager(mgr ctrl.Manager, wraps ...Wrap) error {
	c, live := mgr.GetClient(), mgr.GetAPIReader()
	database := NewDatabaseReconciler(c, live)
	database.Events = mgr.GetEventRecorderFor("database-operator")
	return errors.Join(
		setupDatabase(mgr, wrapped(database, wraps)),
		setupFleet(mgr, wrapped(NewFleetReconciler(c, live), wraps)),
		setupBackup(mgr, wrapped(NewBackupReconciler(c, live), wraps)),
	)
}

func wrapped(reconciler reconcile.Reconciler, wraps []Wrap) reconcile.Reconciler {
	for _, wrap := range wraps {
		reconciler = wrap(reconciler)
	}
	return reconciler
}
