package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/planner"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=databases,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=databases/status,verbs=get;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete

// DatabaseReconciler reconciles one Database at a time.
type DatabaseReconciler struct {
	// Events is told when a Database becomes ready or stops being so; nil, nobody is.
	Events Recorder

	client   client.Client
	live     client.Reader
	statuses *v1status.DatabaseStatusClient
	newID    func() string
}

// NewDatabaseReconciler returns a reconciler that reads and writes through c, and past the cache through live.
func NewDatabaseReconciler(c client.Client, live client.Reader, opts ...patcher.Option) *DatabaseReconciler {
	return &DatabaseReconciler{
		client:   c,
		live:     live,
		statuses: v1status.NewDatabaseStatusClient(c, live, opts...),
		newID:    func() string { return string(uuid.NewUUID()) },
	}
}

func setupDatabase(mgr ctrl.Manager, r reconcile.Reconciler) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Database{}).Owns(&appsv1.StatefulSet{}).Complete(r)
}

// Reconcile takes a Database one stage further. Whatever it decides about the status is written once, when it returns.
func (r *DatabaseReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	database, status, err := r.statuses.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer status.FlushOnReturn(ctx, &result, &err)
	status.OnFlushed(func(before, after *v1.DatabaseStatus) { r.tell(database, before, after) })

	if !database.DeletionTimestamp.IsZero() {
		return patcher.RequeueOnConflict(r.finalize(ctx, database, status))
	}
	// Through the patcher, so that the status write below is checked against the version after this one.
	if _, err := status.PatchMetadata(ctx, addFinalizer); err != nil {
		return patcher.RequeueOnConflict(err)
	}
	if planner.Outdated(database) {
		// A plan keeps its ID as long as it exists, so the old one goes in a write of its own, which wakes the next reconcile.
		database.Status.Plan = nil
		status.SetCondition(notReady("Planning", ""))
		return ctrl.Result{}, nil
	}
	if planner.Needed(database) {
		// The plan must be persisted before its first step is taken, under an ID that no other reconcile plans with.
		id, err := status.ClaimPlanID(ctx, r.newID)
		if err != nil {
			return patcher.RequeueOnConflict(err)
		}
		planner.Mint(database, id)
		status.SetCondition(notReady("Planned", ""))
		return ctrl.Result{}, nil
	}
	lost, err := executor.Verify(ctx, r.client, r.live, database)
	if err != nil || lost {
		status.SetCondition(notReady("StatefulSetLost", ""))
		return ctrl.Result{}, err
	}
	if err := executor.Execute(ctx, r.client, database); err != nil {
		status.SetCondition(notReady("StepFailed", err.Error()))
		return ctrl.Result{}, err
	}
	status.SetObservedGeneration()
	status.SetCondition(metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Executed"})
	return ctrl.Result{}, nil
}

// finalize keeps the Database until its StatefulSet is gone.
func (r *DatabaseReconciler) finalize(ctx context.Context, database *v1.Database, status *v1status.DatabaseStatusPatcher) error {
	gone, err := executor.Remove(ctx, r.client, r.live, database)
	if err != nil {
		status.SetCondition(notReady("RemoveFailed", err.Error()))
		return err
	}
	if !gone {
		status.SetCondition(notReady("Removing", ""))
		return nil
	}
	_, err = status.PatchMetadata(ctx, func(d *v1.Database) { controllerutil.RemoveFinalizer(d, v1.Finalizer) })
	return client.IgnoreNotFound(err)
}

// tell records an event when the Ready condition has moved. It is called when the status is durable, with copies.
func (r *DatabaseReconciler) tell(database *v1.Database, before, after *v1.DatabaseStatus) {
	was := meta.IsStatusConditionTrue(before.Conditions, v1.ConditionReady)
	ready := meta.FindStatusCondition(after.Conditions, v1.ConditionReady)
	if r.Events == nil || ready == nil || was == (ready.Status == metav1.ConditionTrue) {
		return
	}
	eventType := corev1.EventTypeNormal
	if was {
		eventType = corev1.EventTypeWarning
	}
	r.Events.Event(database, eventType, ready.Reason, ready.Message)
}

func addFinalizer(database *v1.Database) { controllerutil.AddFinalizer(database, v1.Finalizer) }

func notReady(reason, message string) metav1.Condition {
	return metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}
