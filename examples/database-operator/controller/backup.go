package controller

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=backups,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.statuspatcher.dev,resources=backups/status,verbs=get;patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create

// errNotNow says that the Database cannot be backed up now; its next change wakes the Backup.
var errNotNow = errors.New("not now")

// BackupReconciler reconciles one Backup at a time.
type BackupReconciler struct {
	// Snapshots is the storage system that takes a snapshot for each Backup; nil for none.
	Snapshots executor.Snapshots

	client    client.Client
	live      client.Reader
	backups   *v1status.BackupStatusClient
	databases *v1status.DatabaseBackupStatusClient
}

// NewBackupReconciler returns a reconciler that reads and writes through c, and past the cache through live.
func NewBackupReconciler(c client.Client, live client.Reader, opts ...patcher.Option) *BackupReconciler {
	return &BackupReconciler{
		client:    c,
		live:      live,
		backups:   v1status.NewBackupStatusClient(c, live, opts...),
		databases: v1status.NewDatabaseBackupStatusClient(c, live, opts...),
	}
}

func setupBackup(mgr ctrl.Manager, r reconcile.Reconciler) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Backup{}).Owns(&batchv1.Job{}).
		Watches(&v1.Database{}, handler.EnqueueRequestsFromMapFunc(BackupsOf(mgr.GetClient()))).
		Complete(r)
}

// Reconcile takes a Backup as far as it gets. Each of its returns leaves a status that says where that was.
func (r *BackupReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	backup, status, err := r.backups.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer status.FlushOnReturn(ctx, &result, &err)

	if backup.Status.Phase.Finished() || !backup.DeletionTimestamp.IsZero() {
		// The outcome is durable before the claim is given up, so that no second Backup starts before the first is known to be over.
		return patcher.RequeueOnConflict(r.letGo(ctx, backup, status))
	}
	if _, err := status.PatchMetadata(ctx, addBackupFinalizer); err != nil {
		return patcher.RequeueOnConflict(err)
	}
	status.SetObservedGeneration()
	if err := r.claim(ctx, backup); err != nil {
		backup.Status.Phase = v1.BackupWaiting
		status.SetCondition(notReady("Waiting", err.Error()))
		if errors.Is(err, errNotNow) {
			return ctrl.Result{}, nil
		}
		return patcher.RequeueOnConflict(err)
	}
	if err := r.takeSnapshot(ctx, backup, status); err != nil {
		status.SetCondition(notReady("SnapshotFailed", err.Error()))
		return ctrl.Result{}, err
	}
	job, err := executor.StartJob(ctx, r.client, r.live, backup)
	if err != nil {
		status.SetCondition(notReady("JobFailed", err.Error()))
		return ctrl.Result{}, err
	}
	backup.Status.Job = &v1.TrackedObject{Name: job.Name, UID: job.UID}
	backup.Status.Phase = executor.Outcome(job)
	if backup.Status.Phase != v1.BackupSucceeded {
		status.SetCondition(notReady(string(backup.Status.Phase), ""))
		return ctrl.Result{}, nil
	}
	status.SetCondition(metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Succeeded"})
	return ctrl.Result{}, nil
}

// claim writes the Backup into the Database's status, and then the Database into the Backup's, in memory: the first is the
// lock, and must be durable before anything rests on it. Whether the Database is free depends on nothing but the Database,
// so this is a Retry: decided on a live read, and again after a conflict.
func (r *BackupReconciler) claim(ctx context.Context, backup *v1.Backup) error {
	if backup.Status.Database != nil {
		return nil
	}
	_, err := r.databases.Retry(ctx, databaseOf(backup), func(database *v1.Database) error {
		switch holder := database.Status.Backup; {
		case holder != nil && holder.UID != backup.UID:
			return fmt.Errorf("%w: %s is being backed up by %s", errNotNow, database.Name, holder.Name)
		case database.Status.Phase != v1.PhaseReady:
			return fmt.Errorf("%w: %s is in phase %q", errNotNow, database.Name, database.Status.Phase)
		}
		database.Status.Backup = &v1.TrackedObject{Name: backup.Name, UID: backup.UID}
		backup.Status.Database = &v1.TrackedObject{Name: database.Name, UID: database.UID}
		return nil
	})
	if err != nil {
		backup.Status.Database = nil
	}
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: there is no Database %s", errNotNow, backup.Spec.Database)
	}
	return err
}

// takeSnapshot makes the Backup's snapshot, and records its ID at once. A snapshot that cannot be recorded, because another reconcile
// has recorded one or the Backup is gone, is deleted.
func (r *BackupReconciler) takeSnapshot(ctx context.Context, backup *v1.Backup, status *v1status.BackupStatusPatcher) error {
	if r.Snapshots == nil || backup.Status.SnapshotID != "" {
		return nil
	}
	id, err := r.Snapshots.Create(ctx, backup.Spec.Database)
	if err != nil {
		return err
	}
	err = status.RecordSnapshotID(ctx, id)
	var lost *patcher.NotRecordedError
	if errors.As(err, &lost) && !errors.Is(err, patcher.ErrUnknownOutcome) {
		err = errors.Join(err, r.Snapshots.Delete(ctx, lost.Value))
	}
	return err
}

// letGo gives up the claim, if this Backup has it, and lets the Backup be deleted.
func (r *BackupReconciler) letGo(ctx context.Context, backup *v1.Backup, status *v1status.BackupStatusPatcher) error {
	_, err := r.databases.Retry(ctx, databaseOf(backup), func(database *v1.Database) error {
		if holder := database.Status.Backup; holder != nil && holder.UID == backup.UID {
			database.Status.Backup = nil
		}
		return nil
	}, patcher.AllowDeleting())
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	_, err = status.PatchMetadata(ctx, func(b *v1.Backup) { controllerutil.RemoveFinalizer(b, v1.Finalizer) })
	return client.IgnoreNotFound(err)
}

func databaseOf(backup *v1.Backup) client.ObjectKey {
	return client.ObjectKey{Namespace: backup.Namespace, Name: backup.Spec.Database}
}

func addBackupFinalizer(backup *v1.Backup) { controllerutil.AddFinalizer(backup, v1.Finalizer) }

// BackupsOf maps a Database to the Backups of it that have not finished.
func BackupsOf(c client.Client) handler.MapFunc {
	return func(ctx context.Context, database client.Object) (requests []reconcile.Request) {
		list := &v1.BackupList{}
		if err := c.List(ctx, list, client.InNamespace(database.GetNamespace())); err != nil {
			return nil
		}
		for _, backup := range list.Items {
			if backup.Spec.Database == database.GetName() && !backup.Status.Phase.Finished() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&backup)})
			}
		}
		return requests
	}
}
