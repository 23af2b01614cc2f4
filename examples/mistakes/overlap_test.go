package mistakes

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// twoPlans lets two replicas decide on the same read, and write one after the other.
func twoPlans(tr *trial) error {
	tr.accept()
	gate := realserver.NewGate(tr.T, realserver.StatusWrites("databases"))
	first := tr.held(gate, tr.databases(gate.Wrap), tr.database)
	second := tr.held(gate, tr.databases(gate.Wrap), tr.database)
	first()
	tr.read(tr.database)
	planned := tr.database.Status.Plan.ID
	second()
	return tr.requirePlan(planned)
}

// planOnStaleCache reconciles again before the cache has the plan.
func planOnStaleCache(tr *trial) error {
	tr.accept()
	live := tr.replica()
	lagging := tr.operator.database(tr.stale(live), live, nil)
	tr.mustReconcile(tr.databases(), tr.database)
	tr.read(tr.database)
	planned := tr.database.Status.Plan.ID
	if _, err := tr.reconcile(lagging, tr.database); err != nil {
		tr.Logf("reconcile: %v", err)
	}
	return tr.requirePlan(planned)
}

// twoClaims lets two Backups see that the Database is free.
func twoClaims(tr *trial) error {
	tr.ready()
	gate := realserver.NewGate(tr.T, realserver.StatusWrites("databases"))
	c := tr.replica(gate.Wrap)
	backups := tr.operator.backup(c, c)
	monday, tuesday := tr.backup("monday"), tr.backup("tuesday")
	first, second := tr.held(gate, backups, monday), tr.held(gate, backups, tuesday)
	gate.Open()
	first()
	second()
	jobs := &batchv1.JobList{}
	if err := tr.client.List(tr.ctx, jobs, client.InNamespace(tr.database.Namespace)); err != nil {
		tr.Fatal(err)
	}
	if len(jobs.Items) != 1 {
		return errors.New("both Backups run")
	}
	return nil
}

// conditionErased lets a Fleet set its condition on a Database that it read before the Database became ready.
func conditionErased(tr *trial) error {
	fleet := &v1.Fleet{ObjectMeta: metav1.ObjectMeta{Namespace: tr.database.Namespace, Name: "shop"}}
	tr.create(fleet)
	tr.accept()
	live := tr.replica()
	lagging := tr.operator.fleet(tr.stale(live), live)
	tr.ready()
	if _, err := tr.reconcile(lagging, fleet); err != nil {
		tr.Logf("reconcile: %v", err)
	}
	tr.read(tr.database)
	if !meta.IsStatusConditionTrue(tr.database.Status.Conditions, v1.ConditionReady) {
		return errors.New("the condition Ready went back to False")
	}
	return nil
}

// accept brings the Database where it has its finalizer and a first condition, and no plan: as both operators find one
// that the webhook of some installation has accepted.
func (tr *trial) accept() {
	tr.Helper()
	err := realserver.MutateSpec(tr.ctx, tr.client, tr.database, func(d *v1.Database) { d.Finalizers = []string{v1.Finalizer} })
	if err != nil {
		tr.Fatal(err)
	}
	accepted := metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Accepted"}
	err = realserver.Forge(tr.ctx, tr.client, tr.database, func(d *v1.Database) { meta.SetStatusCondition(&d.Status.Conditions, accepted) })
	if err != nil {
		tr.Fatal(err)
	}
}

func (tr *trial) requirePlan(id string) error {
	tr.Helper()
	tr.read(tr.database)
	if now := tr.database.Status.Plan.ID; now != id {
		return fmt.Errorf("the plan was erased: %s by %s", id, now)
	}
	return nil
}

func (tr *trial) backup(name string) *v1.Backup {
	tr.Helper()
	backup := &v1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: tr.database.Namespace, Name: name},
		Spec:       v1.BackupSpec{Database: tr.database.Name},
	}
	tr.create(backup)
	return backup
}
