package controller

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
)

// SetupWithManager registers the three controllers.
func SetupWithManager(mgr ctrl.Manager, wraps ...controller.Wrap) error {
	c := mgr.GetClient()
	wrap := func(r reconcile.Reconciler) reconcile.Reconciler {
		for _, w := range wraps {
			r = w(r)
		}
		return r
	}
	database := &DatabaseReconciler{Client: c, Events: mgr.GetEventRecorderFor("handwritten-operator")}
	fleets := handler.EnqueueRequestsFromMapFunc(controller.FleetsOf(c))
	backups := handler.EnqueueRequestsFromMapFunc(controller.BackupsOf(c))
	return errors.Join(
		ctrl.NewControllerManagedBy(mgr).For(&v1.Database{}).Owns(&appsv1.StatefulSet{}).Complete(wrap(database)),
		ctrl.NewControllerManagedBy(mgr).For(&v1.Fleet{}).Watches(&v1.Database{}, fleets).Complete(wrap(&FleetReconciler{Client: c})),
		ctrl.NewControllerManagedBy(mgr).For(&v1.Backup{}).Owns(&batchv1.Job{}).Watches(&v1.Database{}, backups).
			Complete(wrap(&BackupReconciler{Client: c})),
	)
}

func keyOf(obj client.Object) client.ObjectKey { return client.ObjectKeyFromObject(obj) }
