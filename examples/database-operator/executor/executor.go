// Package executor takes the steps of a Database's plan. It changes other objects, and obj.Status in memory; the
// reconciler flushes.
package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/planner"
)

const (
	// FieldOwner is whom server-side apply records for what the operator sets.
	FieldOwner = "database-operator"
	// PlanAnnotation on the StatefulSet names the plan that it was applied for.
	PlanAnnotation = "example.statuspatcher.dev/plan"
)

// Execute takes every step of the plan that is not done, and marks it. A step that fails stays undone, and so do those
// after it.
func Execute(ctx context.Context, c client.Client, database *v1.Database) error {
	for i := range database.Status.Plan.Steps {
		step := &database.Status.Plan.Steps[i]
		if step.Done {
			continue
		}
		if err := take(ctx, c, database, step.Name); err != nil {
			return fmt.Errorf("step %s of plan %s: %w", step.Name, database.Status.Plan.ID, err)
		}
		step.Done = true
	}
	return nil
}

func take(ctx context.Context, c client.Client, database *v1.Database, step string) error {
	switch step {
	case planner.StepApplyStatefulSet:
		return applyStatefulSet(ctx, c, database)
	case planner.StepReport:
		report(database)
		return nil
	}
	return fmt.Errorf("no such step: the plan was made by another version of the operator")
}

func applyStatefulSet(ctx context.Context, c client.Client, database *v1.Database) error {
	// Only an unstructured configuration takes the answer in, and with it the UID.
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(statefulSetFor(database))
	if err != nil {
		return err
	}
	statefulSet := &unstructured.Unstructured{Object: fields}
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(statefulSet), client.FieldOwner(FieldOwner), client.ForceOwnership)
	if err != nil {
		return err
	}
	database.Status.StatefulSet = &v1.TrackedObject{Name: statefulSet.GetName(), UID: statefulSet.GetUID()}
	return nil
}

func report(database *v1.Database) {
	database.Status.Phase = v1.PhaseReady
	if database.Spec.Paused {
		database.Status.Phase = v1.PhasePaused
	}
}

func statefulSetFor(database *v1.Database) *appsv1ac.StatefulSetApplyConfiguration {
	labels := map[string]string{"app.kubernetes.io/instance": database.Name}
	replicas := ptr.Deref(database.Spec.Replicas, 1)
	if database.Spec.Paused {
		replicas = 0
	}
	container := corev1ac.Container().WithName("database").WithImage(database.Spec.Image)
	for _, name := range slices.Sorted(maps.Keys(database.Spec.Settings)) {
		container.WithEnv(corev1ac.EnvVar().WithName(name).WithValue(database.Spec.Settings[name]))
	}
	return appsv1ac.StatefulSet(database.Name, database.Namespace).
		WithLabels(labels).
		WithAnnotations(map[string]string{PlanAnnotation: database.Status.Plan.ID}).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1.GroupVersion.String()).WithKind("Database").
			WithName(database.Name).WithUID(database.UID).
			WithController(true).WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(replicas).
			WithServiceName(database.Name).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().WithContainers(container))))
}
