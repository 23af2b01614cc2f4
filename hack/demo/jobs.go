package main

import (
	"context"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// completeJobs does what the Job controller and a user do: when a Job is there, somebody annotates its Database, and then the
// Job is complete.
func (s *stage) completeJobs(ctx context.Context) error {
	jobs, err := s.client.Watch(ctx, &batchv1.JobList{}, client.InNamespace(s.namespace))
	if err != nil {
		return err
	}
	go func() {
		for event := range jobs.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && event.Type == watch.Added {
				_ = s.complete(ctx, job) // one that stays open shows in the table: nothing converges
			}
		}
	}()
	return nil
}

func (s *stage) complete(ctx context.Context, job *batchv1.Job) error {
	name, _, _ := strings.Cut(job.Name, ".")
	err := realserver.MutateSpec(ctx, s.client, &v1.Database{ObjectMeta: s.meta(name)}, func(d *v1.Database) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, "last-job", job.Name)
	})
	if err != nil {
		return err
	}
	now := metav1.NewTime(time.Now())
	return realserver.Forge(ctx, s.client, job, func(job *batchv1.Job) {
		job.Status.StartTime, job.Status.CompletionTime = &now, &now
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue},
			{Type: batchv1.JobComplete, Status: corev1.ConditionTrue},
		}
	})
}
