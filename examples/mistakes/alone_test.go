package mistakes

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// healthyDeleted puts an impostor in the place of the StatefulSet, and lets the status write after the new one conflict.
func healthyDeleted(tr *trial) error {
	tr.ready()
	own := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: tr.database.Namespace, Name: tr.database.Name}}
	tr.read(own)
	if err := executor.Delete(tr.ctx, tr.client, own); err != nil {
		tr.Fatal(err)
	}
	tr.create(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: own.Namespace, Name: own.Name}, Spec: own.Spec})

	applied := false
	fault := realserver.NewFault(func(r realserver.Request) bool {
		applied = applied || realserver.Requests("patch", "statefulsets")(r)
		return applied && realserver.StatusWrites("databases")(r)
	}, realserver.Conflict())
	recorder := &realserver.Recorder{}
	tr.settle(tr.databases(recorder.Wrap, fault.Wrap), tr.database)
	if fault.Hits() != 1 {
		tr.Fatal("the status write after the new StatefulSet did not conflict")
	}
	if deleted := len(recorder.Requests(realserver.Requests("delete", "statefulsets"))); deleted != 1 {
		return fmt.Errorf("%d StatefulSets were deleted, of one impostor", deleted)
	}
	return nil
}

// noEvent makes a Database that is ready fail.
func noEvent(tr *trial) error {
	tr.ready()
	tr.events.reasons = nil
	tr.breakSettings()
	tr.settle(tr.databases(), tr.database)
	if len(tr.events.reasons) == 0 {
		return errors.New("no event tells that the Database is not ready any more")
	}
	return nil
}

// editDropped lets the first status write of a Backup fail.
func editDropped(tr *trial) error {
	tr.ready()
	backup := tr.backup("monday")
	fault := realserver.NewFault(realserver.StatusWrites("backups"), realserver.InternalError())
	c := tr.replica(fault.Wrap)
	tr.settle(tr.operator.backup(c, c), backup)
	if fault.Hits() != 1 || backup.Status.Phase != v1.BackupRunning {
		tr.Fatalf("%d faults, %+v", fault.Hits(), backup.Status)
	}
	if backup.Status.Database == nil {
		return errors.New("the Backup never says which Database it claimed")
	}
	return nil
}

// reasonHidden asks for what the server refuses.
func reasonHidden(tr *trial) error {
	tr.breakSettings()
	tr.settle(tr.databases(), tr.database)
	if !slices.ContainsFunc(tr.database.Status.Conditions, func(c metav1.Condition) bool { return strings.Contains(c.Message, "env[0].name") }) {
		return errors.New("the status does not say what is wrong with the settings")
	}
	return nil
}

// firstWriteConflicts reconciles a new Database that nobody else writes.
func firstWriteConflicts(tr *trial) error {
	recorder := &realserver.Recorder{}
	tr.settle(tr.databases(recorder.Wrap), tr.database)
	conflicts := recorder.Requests(func(r realserver.Request) bool { return r.Code == http.StatusConflict })
	if len(conflicts) > 0 {
		return fmt.Errorf("%d conflict with nobody else writing", len(conflicts))
	}
	return nil
}

// backoff lets every status write of a Fleet conflict for a while, and asks a controller's queue how long each reconcile
// would be put off.
func backoff(tr *trial) error {
	fleet := &v1.Fleet{ObjectMeta: metav1.ObjectMeta{Namespace: tr.database.Namespace, Name: "shop"}}
	tr.create(fleet)
	const conflicts, patience = 12, 3 * time.Second
	fault := realserver.NewFault(realserver.StatusWrites("fleets"), realserver.Conflict(), realserver.Times(conflicts))
	c := tr.replica(fault.Wrap)
	fleets := tr.operator.fleet(c, c)
	limiter := workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()
	for fault.Hits() < conflicts {
		result, err := tr.reconcile(fleets, fleet)
		delay := result.RequeueAfter
		if err != nil {
			delay = limiter.When(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(fleet)})
		}
		if delay > patience {
			return fmt.Errorf("after conflict %d the Fleet waits longer than %s: %s", fault.Hits(), patience, delay)
		}
	}
	return nil
}

// breakSettings asks for an environment variable without a name, which only the StatefulSet's validation refuses.
func (tr *trial) breakSettings() {
	tr.Helper()
	err := realserver.MutateSpec(tr.ctx, tr.client, tr.database, func(d *v1.Database) { d.Spec.Settings = map[string]string{"": "C"} })
	if err != nil {
		tr.Fatal(err)
	}
}

func (tr *trial) mustReconcile(r reconcile.Reconciler, obj client.Object) {
	tr.Helper()
	if _, err := tr.reconcile(r, obj); err != nil {
		tr.Fatal(err)
	}
}
