package controller

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
)

// FleetReconciler reconciles one Fleet at a time.
type FleetReconciler struct {
	client.Client
}

// Reconcile steers the Databases of a Fleet and sums them up.
func (r *FleetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fleet := &v1.Fleet{}
	if err := r.Get(ctx, req.NamespacedName, fleet); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&fleet.Spec.Selector)
	if err != nil {
		return ctrl.Result{}, err
	}
	databases := &v1.DatabaseList{}
	if err := r.List(ctx, databases, client.InNamespace(fleet.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return ctrl.Result{}, err
	}
	var failed []error
	for i := range databases.Items {
		failed = append(failed, r.steer(ctx, fleet, &databases.Items[i]))
	}
	if err := errors.Join(failed...); err != nil {
		return ctrl.Result{}, err
	}
	sum(fleet, databases.Items)
	// L6: a conflict is an error like any other, and waits twice as long each time.
	return ctrl.Result{}, r.Status().Update(ctx, fleet)
}

// steer makes the Database's spec follow the Fleet's, and says so in its status.
func (r *FleetReconciler) steer(ctx context.Context, fleet *v1.Fleet, database *v1.Database) error {
	base := database.DeepCopy()
	if database.Spec.Paused != fleet.Spec.Paused {
		database.Spec.Paused = fleet.Spec.Paused
		if err := r.Patch(ctx, database, client.MergeFrom(base)); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if !meta.SetStatusCondition(&database.Status.Conditions, pausedBy(fleet, database)) {
		return nil
	}
	// L0: a merge patch replaces the whole list, with the conditions that the Database's own controller has set since.
	return client.IgnoreNotFound(r.Status().Patch(ctx, database, client.MergeFrom(base)))
}

func sum(fleet *v1.Fleet, databases []v1.Database) {
	fleet.Status.Databases, fleet.Status.Ready, fleet.Status.Paused = int32(len(databases)), 0, 0
	settled := true
	for _, database := range databases {
		switch database.Status.Phase {
		case v1.PhaseReady:
			fleet.Status.Ready++
		case v1.PhasePaused:
			fleet.Status.Paused++
		}
		settled = settled && database.Status.ObservedGeneration == database.Generation
	}
	if !settled {
		meta.SetStatusCondition(&fleet.Status.Conditions, notReady(fleet, "PlansRunning", ""))
		return
	}
	fleet.Status.ObservedGeneration = fleet.Generation
	meta.SetStatusCondition(&fleet.Status.Conditions, ready(fleet, "Settled"))
}

func pausedBy(fleet *v1.Fleet, database *v1.Database) metav1.Condition {
	condition := metav1.Condition{
		Type: v1.ConditionPausedByFleet, Status: metav1.ConditionFalse, Reason: "Running", Message: fleet.Name,
		ObservedGeneration: database.Generation,
	}
	if fleet.Spec.Paused {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Paused"
	}
	return condition
}
