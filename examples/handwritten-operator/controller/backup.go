package controller

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/executor"
)

var errNotNow = errors.New("not now")

// BackupReconciler reconciles one Backup at a time.
type BackupReconciler struct {
	client.Client
}

// Reconcile takes a Backup as far as it gets.
func (r *BackupReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	backup := &v1.Backup{}
	if err := r.Get(ctx, req.NamespacedName, backup); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if backup.Status.Phase.Finished() {
		r.letGo(ctx, backup)
		return ctrl.Result{}, nil
	}
	base := backup.DeepCopy()
	if err := r.claim(ctx, backup); err != nil {
		backup.Status.Phase = v1.BackupWaiting
		meta.SetStatusCondition(&backup.Status.Conditions, notReady(backup, "Waiting", err.Error()))
		if patchErr := r.Status().Patch(ctx, backup, client.MergeFrom(base)); patchErr != nil {
			return ctrl.Result{}, patchErr
		}
		if errors.Is(err, errNotNow) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	backup.Status.ObservedGeneration = backup.Generation
	if err := r.Status().Patch(ctx, backup, client.MergeFrom(base)); err != nil {
		log.FromContext(ctx).Error(err, "could not write the claim, going on")
	}

	// L3: if the write above failed, this base says that the claim is written, and no later diff has it.
	base = backup.DeepCopy()
	job, err := executor.StartJob(ctx, r.Client, r.Client, backup)
	if err != nil {
		return ctrl.Result{}, err
	}
	backup.Status.Job = &v1.TrackedObject{Name: job.Name, UID: job.UID}
	backup.Status.Phase = executor.Outcome(job)
	if backup.Status.Phase == v1.BackupSucceeded {
		meta.SetStatusCondition(&backup.Status.Conditions, ready(backup, "Succeeded"))
	} else {
		meta.SetStatusCondition(&backup.Status.Conditions, notReady(backup, string(backup.Status.Phase), ""))
	}
	return ctrl.Result{}, r.Status().Patch(ctx, backup, client.MergeFrom(base))
}

// claim writes the Backup into the Database's status, and then the Database into the Backup's, in memory.
func (r *BackupReconciler) claim(ctx context.Context, backup *v1.Backup) error {
	if backup.Status.Phase == v1.BackupRunning {
		return nil
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		database := &v1.Database{}
		if err := r.Get(ctx, databaseOf(backup), database); err != nil {
			return err
		}
		base := database.DeepCopy()
		switch holder := database.Status.Backup; {
		case holder != nil && holder.UID != backup.UID:
			return fmt.Errorf("%w: %s is being backed up by %s", errNotNow, database.Name, holder.Name)
		case database.Status.Phase != v1.PhaseReady:
			return fmt.Errorf("%w: %s is in phase %q", errNotNow, database.Name, database.Status.Phase)
		}
		database.Status.Backup = &v1.TrackedObject{Name: backup.Name, UID: backup.UID}
		backup.Status.Database = &v1.TrackedObject{Name: database.Name, UID: database.UID}
		// L0: without a lock it cannot conflict, so that the retry around it does nothing, and both of two Backups win.
		return r.Status().Patch(ctx, database, client.MergeFrom(base))
	})
}

// letGo gives up the claim, if this Backup has it.
func (r *BackupReconciler) letGo(ctx context.Context, backup *v1.Backup) {
	database := &v1.Database{}
	if err := r.Get(ctx, databaseOf(backup), database); err != nil {
		return
	}
	if holder := database.Status.Backup; holder == nil || holder.UID != backup.UID {
		return
	}
	database.Status.Backup = nil
	if err := r.Status().Update(ctx, database); err != nil {
		log.FromContext(ctx).Error(err, "could not give up the claim")
	}
}

func databaseOf(backup *v1.Backup) client.ObjectKey {
	return client.ObjectKey{Namespace: backup.Namespace, Name: backup.Spec.Database}
}
