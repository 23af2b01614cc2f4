package executor

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
)

// StartJob returns the Backup's Job, which it creates if it is not there.
func StartJob(ctx context.Context, c client.Client, live client.Reader, backup *v1.Backup) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	err := c.Get(ctx, client.ObjectKeyFromObject(backup), job)
	if apierrors.IsNotFound(err) {
		job = jobFor(backup)
		err = c.Create(ctx, job)
	}
	if apierrors.IsAlreadyExists(err) { // the cache lags
		err = live.Get(ctx, client.ObjectKeyFromObject(backup), job)
	}
	return job, err
}

// Outcome is the phase that the Job's conditions mean.
func Outcome(job *batchv1.Job) v1.BackupPhase {
	for _, condition := range job.Status.Conditions {
		switch {
		case condition.Status != corev1.ConditionTrue:
		case condition.Type == batchv1.JobComplete:
			return v1.BackupSucceeded
		case condition.Type == batchv1.JobFailed:
			return v1.BackupFailed
		}
	}
	return v1.BackupRunning
}

func jobFor(backup *v1.Backup) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       backup.Namespace,
			Name:            backup.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(backup, v1.GroupVersion.WithKind("Backup"))},
		},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "dump", Image: "postgres:18", Args: []string{"pg_dump", "--host=" + backup.Spec.Database}}},
		}}},
	}
}
