// Package controller reconciles Databases: it mints a plan once, persists it, and executes it on the next reconcile.
package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/planner"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=databases,verbs=get;list;watch
// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=databases/status,verbs=get;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch

// DatabaseReconciler reconciles one Database at a time.
type DatabaseReconciler struct {
	client   client.Client
	statuses *v1status.DatabaseStatusClient
	newID    func() string
}

// NewDatabaseReconciler returns a reconciler that reads and writes through c, and past the cache through live.
func NewDatabaseReconciler(c client.Client, live client.Reader, opts ...patcher.Option) *DatabaseReconciler {
	return &DatabaseReconciler{
		client:   c,
		statuses: v1status.NewDatabaseStatusClient(c, live, opts...),
		newID:    func() string { return string(uuid.NewUUID()) },
	}
}

// SetupWithManager registers the reconciler.
func SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1.Database{}).
		Owns(&appsv1.StatefulSet{}).
		Complete(NewDatabaseReconciler(mgr.GetClient(), mgr.GetAPIReader()))
}

// Reconcile takes a Database one stage further. Whatever it decides about the status is written once, when it returns.
func (r *DatabaseReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	database, status, err := r.statuses.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer status.FlushOnReturn(ctx, &result, &err)

	if planner.Needed(database) {
		// The plan must be persisted before its first step is taken. Its write is what wakes the next reconcile.
		planner.Mint(database, r.newID())
		status.SetCondition(metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Planned"})
		return ctrl.Result{}, nil
	}
	if err := executor.Execute(ctx, r.client, database); err != nil {
		status.SetCondition(metav1.Condition{
			Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: "StepFailed", Message: err.Error(),
		})
		return ctrl.Result{}, err
	}
	status.SetObservedGeneration()
	status.SetCondition(metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Executed"})
	return ctrl.Result{}, nil
}
