package controller

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=fleets,verbs=get;list;watch
// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=fleets/status,verbs=get;patch

// FleetReconciler reconciles one Fleet at a time.
type FleetReconciler struct {
	client    client.Client
	fleets    *v1status.FleetStatusClient
	databases *v1status.DatabaseFleetStatusClient
}

// NewFleetReconciler returns a reconciler that reads and writes through c, and past the cache through live.
func NewFleetReconciler(c client.Client, live client.Reader, opts ...patcher.Option) *FleetReconciler {
	return &FleetReconciler{
		client:    c,
		fleets:    v1status.NewFleetStatusClient(c, live, opts...),
		databases: v1status.NewDatabaseFleetStatusClient(c, live, opts...),
	}
}

func setupFleet(mgr ctrl.Manager, r reconcile.Reconciler) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Fleet{}).
		Watches(&v1.Database{}, handler.EnqueueRequestsFromMapFunc(FleetsOf(mgr.GetClient()))).
		Complete(r)
}

// Reconcile steers the Databases of a Fleet and sums them up.
func (r *FleetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	fleet, status, err := r.fleets.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer status.FlushOnReturn(ctx, &result, &err)

	databases, err := r.members(ctx, fleet)
	if err != nil {
		status.SetCondition(notReady("NoMembers", err.Error()))
		return ctrl.Result{}, err
	}
	var failed []error
	for i := range databases {
		failed = append(failed, r.steer(ctx, fleet, &databases[i]))
	}
	r.sum(fleet, databases, status)
	// A Database that changed meanwhile is no failure of the Fleet's: it is steered again, from its newer version.
	return patcher.RequeueOnConflict(errors.Join(failed...))
}

func (r *FleetReconciler) members(ctx context.Context, fleet *v1.Fleet) ([]v1.Database, error) {
	selector, err := metav1.LabelSelectorAsSelector(&fleet.Spec.Selector)
	if err != nil {
		return nil, reconcile.TerminalError(err)
	}
	list := &v1.DatabaseList{}
	err = r.client.List(ctx, list, client.InNamespace(fleet.Namespace), client.MatchingLabelsSelector{Selector: selector})
	return list.Items, err
}

// steer makes the Database's spec follow the Fleet's, and says so in its status.
func (r *FleetReconciler) steer(ctx context.Context, fleet *v1.Fleet, database *v1.Database) error {
	if database.Spec.Paused != fleet.Spec.Paused {
		base := database.DeepCopy()
		database.Spec.Paused = fleet.Spec.Paused
		if err := r.client.Patch(ctx, database, client.MergeFrom(base)); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	// After the patch of the spec, which moved the resourceVersion: a patcher made before it would hold a stale base.
	status, err := r.databases.For(database)
	if err != nil {
		return err
	}
	status.SetCondition(pausedBy(fleet))
	_, err = status.Flush(ctx)
	return client.IgnoreNotFound(err)
}

// sum counts the Databases, and observes the Fleet's generation once no plan runs that was made for it.
func (r *FleetReconciler) sum(fleet *v1.Fleet, databases []v1.Database, status *v1status.FleetStatusPatcher) {
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
		status.SetCondition(notReady("PlansRunning", ""))
		return
	}
	status.SetObservedGeneration()
	status.SetCondition(metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Settled"})
}

func pausedBy(fleet *v1.Fleet) metav1.Condition {
	condition := metav1.Condition{Type: v1.ConditionPausedByFleet, Status: metav1.ConditionFalse, Reason: "Running", Message: fleet.Name}
	if fleet.Spec.Paused {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Paused"
	}
	return condition
}

// FleetsOf maps a Database to the Fleets that select it.
func FleetsOf(c client.Client) handler.MapFunc {
	return func(ctx context.Context, database client.Object) (requests []reconcile.Request) {
		list := &v1.FleetList{}
		if err := c.List(ctx, list, client.InNamespace(database.GetNamespace())); err != nil {
			return nil
		}
		for _, fleet := range list.Items {
			selector, err := metav1.LabelSelectorAsSelector(&fleet.Spec.Selector)
			if err == nil && selector.Matches(labels.Set(database.GetLabels())) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&fleet)})
			}
		}
		return requests
	}
}
