package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/planner"
)

// DatabaseReconciler reconciles one Database at a time.
type DatabaseReconciler struct {
	client.Client
	Events controller.Recorder
}

// Reconcile takes a Database one stage further.
func (r *DatabaseReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	database := &v1.Database{}
	if err := r.Get(ctx, req.NamespacedName, database); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !database.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, database)
	}
	base := database.DeepCopy()
	if controllerutil.AddFinalizer(database, v1.Finalizer) {
		if err := r.Update(ctx, database); err != nil {
			return ctrl.Result{}, err
		}
	}
	if len(database.Status.Conditions) == 0 {
		meta.SetStatusCondition(&database.Status.Conditions, notReady(database, "Accepted", ""))
		// L5: the Update above has moved the resourceVersion, and this lock is on the one before.
		lock := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		if err := r.Status().Patch(ctx, database, lock); err != nil {
			return ctrl.Result{}, err
		}
	}

	if planner.Needed(database) {
		patch := client.MergeFrom(database.DeepCopy())
		planner.Mint(database, string(uuid.NewUUID()))
		meta.SetStatusCondition(&database.Status.Conditions, notReady(database, "Planned", ""))
		// L0: two reconciles that both saw no plan both get here, and the second erases the plan of the first.
		return ctrl.Result{}, r.Status().Patch(ctx, database, patch)
	}
	if err := r.evictImpostor(ctx, database); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.execute(ctx, database)
}

// evictImpostor deletes a StatefulSet that has the name of ours and is another one.
func (r *DatabaseReconciler) evictImpostor(ctx context.Context, database *v1.Database) error {
	tracked := database.Status.StatefulSet
	if tracked == nil {
		return nil
	}
	statefulSet := &appsv1.StatefulSet{}
	err := r.Get(ctx, keyOf(database), statefulSet)
	if err == nil && statefulSet.UID != tracked.UID {
		// L1: the reference to the old StatefulSet stays in the status until execute has written that of the new one. If
		// that write is lost, the new one is an impostor at the next reconcile.
		err = executor.Delete(ctx, r.Client, statefulSet)
		planner.Reopen(database)
	}
	if apierrors.IsNotFound(err) {
		planner.Reopen(database)
	}
	return client.IgnoreNotFound(err)
}

func (r *DatabaseReconciler) execute(ctx context.Context, database *v1.Database) error {
	previous := meta.FindStatusCondition(database.Status.Conditions, v1.ConditionReady)
	if err := executor.Execute(ctx, r.Client, database); err != nil {
		meta.SetStatusCondition(&database.Status.Conditions, notReady(database, "StepFailed", err.Error()))
		r.tell(database, previous)
		// L4: the condition that says why is only in memory.
		return err
	}
	database.Status.ObservedGeneration = database.Generation
	meta.SetStatusCondition(&database.Status.Conditions, ready(database, "Executed"))
	r.tell(database, previous)
	return r.Status().Update(ctx, database)
}

// tell records an event when the Ready condition has moved.
func (r *DatabaseReconciler) tell(database *v1.Database, previous *metav1.Condition) {
	now := meta.FindStatusCondition(database.Status.Conditions, v1.ConditionReady)
	// L2: previous points at the condition that was just changed, and is equal to it.
	if r.Events != nil && previous != nil && previous.Status != now.Status {
		r.Events.Event(database, corev1.EventTypeNormal, now.Reason, now.Message)
	}
}

func (r *DatabaseReconciler) finalize(ctx context.Context, database *v1.Database) error {
	gone, err := executor.Remove(ctx, r.Client, r.Client, database)
	if err != nil || !gone {
		return err
	}
	controllerutil.RemoveFinalizer(database, v1.Finalizer)
	return client.IgnoreNotFound(r.Update(ctx, database))
}

func notReady(obj client.Object, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: obj.GetGeneration(),
	}
}

func ready(obj client.Object, reason string) metav1.Condition {
	return metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: obj.GetGeneration()}
}
