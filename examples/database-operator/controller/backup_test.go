package controller

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// A Database has one Backup at a time; the second one waits, and runs when the first is over.
func TestBackupsOfOneDatabaseTakeTurns(t *testing.T) {
	database := newDatabase(t)
	c := server.Client(t, newScheme(t))
	startManager(t, database.Namespace)
	backups := []*v1.Backup{newBackup(t, c, database, "monday"), newBackup(t, c, database, "tuesday")}

	first := running(t, c, database, backups)
	second := backups[1-slices.Index(backups, first)]
	eventually(t, c, second, func(b *v1.Backup) bool { return b.Status.Phase == v1.BackupWaiting })
	finish(t, c, first)
	eventually(t, c, first, func(b *v1.Backup) bool { return b.Status.Phase == v1.BackupSucceeded })
	eventually(t, c, second, func(b *v1.Backup) bool { return b.Status.Phase == v1.BackupRunning })
	finish(t, c, second)
	eventually(t, c, database, func(d *v1.Database) bool { return d.Status.Backup == nil })
}

// running waits until one of the Backups has the Database, and returns it.
func running(t *testing.T, c client.Client, database *v1.Database, backups []*v1.Backup) *v1.Backup {
	t.Helper()
	eventually(t, c, database, func(d *v1.Database) bool { return d.Status.Backup != nil })
	for _, backup := range backups {
		if backup.UID == database.Status.Backup.UID {
			eventually(t, c, backup, func(b *v1.Backup) bool { return b.Status.Job != nil })
			return backup
		}
	}
	t.Fatalf("claimed by %+v", database.Status.Backup)
	return nil
}

// One reconcile writes two kinds' statuses: the Database's first, which is the lock, then the Backup's.
func TestBackupClaimsTheDatabaseFirst(t *testing.T) {
	b := newTask(t)
	b.reconcile()
	b.requireWrites("patch databases/status", "patch backups/status")
	for _, write := range b.recorder.Requests(realserver.StatusWrites()) {
		if write.ResourceVersion() == "" || write.Code != 200 {
			t.Errorf("%s: blind, or refused with %d", write, write.Code)
		}
	}
}

// When it is over, the order is the other way round, in two reconciles: the outcome, then the claim.
func TestBackupIsOverBeforeTheClaimIs(t *testing.T) {
	b := newTask(t)
	b.reconcile()
	finish(t, b.client, b.backup)
	b.reconcile()
	b.requireWrites("patch backups/status")
	b.reconcile()
	b.requireWrites("patch databases/status")
}

// Every early return leaves a status that says why.
func TestBackupSaysWhyItWaits(t *testing.T) {
	for _, row := range []struct {
		name    string
		prepare func(*task)
		want    string
	}{
		{"no such Database", func(b *task) { b.rename("elsewhere") }, "not now: there is no Database elsewhere"},
		{"not ready", func(b *task) { b.forge(func(d *v1.Database) { d.Status.Phase = v1.PhasePlanned }) }, `not now: orders is in phase "Planned"`},
		{"claimed by another", func(b *task) {
			b.forge(func(d *v1.Database) { d.Status.Backup = &v1.TrackedObject{Name: "sunday", UID: "s"} })
		}, "not now: orders is being backed up by sunday"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newTask(t)
			row.prepare(b)
			b.reconcile()
			b.requireWrites("patch backups/status")
			live := b.live()
			if live.Status.Phase != v1.BackupWaiting || len(live.Status.Conditions) != 1 || live.Status.Conditions[0].Message != row.want {
				t.Fatalf("%+v, want the message %q", live.Status, row.want)
			}
		})
	}
}

// A Backup that is deleted while it runs gives the Database back.
func TestBackupDeletedWhileItRuns(t *testing.T) {
	b := newTask(t)
	b.reconcile()
	if err := b.client.Delete(t.Context(), b.backup); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	eventually(t, b.client, b.database, func(d *v1.Database) bool { return d.Status.Backup == nil })
	if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(b.backup), b.backup); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the Backup is still there: %v", err)
	}
}

// task is a Backup of a Database that is ready, reconciled by hand.
type task struct {
	*testing.T
	client   client.Client
	recorder *realserver.Recorder
	backup   *v1.Backup
	database *v1.Database
}

func newTask(t *testing.T) *task {
	b := &task{T: t, recorder: &realserver.Recorder{}, database: newDatabase(t)}
	b.client = server.Client(t, newScheme(t), b.recorder.Wrap)
	b.forge(func(d *v1.Database) { d.Status.Phase = v1.PhaseReady })
	b.backup = newBackup(t, b.client, b.database, "monday")
	return b
}

func (b *task) reconcile() {
	b.Helper()
	b.recorder.Reset()
	result, err := NewBackupReconciler(b.client, b.client).Reconcile(b.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.backup)})
	if err != nil || result != (ctrl.Result{}) {
		b.Fatalf("%+v, %v", result, err)
	}
}

func (b *task) requireWrites(want ...string) {
	b.Helper()
	if got := sequence(b.recorder.Requests(realserver.StatusWrites())); !slices.Equal(got, want) {
		b.Fatalf("status writes: %v, want %v", got, want)
	}
}

func (b *task) forge(mutate func(*v1.Database)) {
	b.Helper()
	if err := realserver.Forge(b.Context(), b.client, b.database, mutate); err != nil {
		b.Fatal(err)
	}
}

// rename points the Backup at another Database.
func (b *task) rename(database string) {
	b.Helper()
	err := realserver.MutateSpec(b.Context(), b.client, b.backup, func(b *v1.Backup) { b.Spec.Database = database })
	if err != nil {
		b.Fatal(err)
	}
}

func (b *task) live() *v1.Backup {
	b.Helper()
	if err := b.client.Get(b.Context(), client.ObjectKeyFromObject(b.backup), b.backup); err != nil {
		b.Fatal(err)
	}
	return b.backup
}

func newBackup(t *testing.T, c client.Client, database *v1.Database, name string) *v1.Backup {
	t.Helper()
	backup := &v1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: database.Namespace, Name: name},
		Spec:       v1.BackupSpec{Database: database.Name},
	}
	if err := c.Create(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	return backup
}

// finish completes the Backup's Job, as the Job controller would.
func finish(t *testing.T, c client.Client, backup *v1.Backup) {
	t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: backup.Namespace, Name: backup.Name}}
	now := metav1.NewTime(time.Now())
	err := realserver.Forge(t.Context(), c, job, func(job *batchv1.Job) {
		job.Status.StartTime, job.Status.CompletionTime = &now, &now
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue},
			{Type: batchv1.JobComplete, Status: corev1.ConditionTrue},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
