package main

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
)

// A size is an object to write the status of.
type size struct {
	name                          string
	containers, conditions, tasks int
	entries                       int
	specBytes                     int
}

var sizes = []size{
	{name: "small", containers: 1, conditions: 1},
	{name: "typical", containers: 3, conditions: 5, tasks: 5},
	// bigspec differs from typical in its spec alone: what a status write costs must not depend on it.
	{name: "bigspec", containers: 3, conditions: 5, tasks: 5, specBytes: 100_000},
	{name: "large", containers: 3, conditions: 200, tasks: 5, entries: 200, specBytes: 100_000},
}

// epoch is in seconds, as a time that the API server has stored.
var epoch = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local))

func (s size) object() *v1.Workload {
	w := &v1.Workload{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "a", UID: types.UID("6f1c2a5e-52f7-4b8c-9f39-0b6f4d1c7e11"),
			ResourceVersion: "1000", Generation: 3, CreationTimestamp: epoch,
			Labels:        map[string]string{"app.kubernetes.io/name": "workload", "app.kubernetes.io/part-of": "bench", "tier": "one"},
			Annotations:   map[string]string{"bench.statuspatcher.dev/note": "first", "bench.statuspatcher.dev/owner": "team-a"},
			Finalizers:    []string{"bench.statuspatcher.dev/cleanup"},
			ManagedFields: managedFields(),
		},
		Status: v1.WorkloadStatus{Phase: "Running", ObservedGeneration: 3, Replicas: 3, LastSync: epoch.DeepCopy()},
	}
	for i := range s.containers {
		w.Spec.Containers = append(w.Spec.Containers, container(i))
	}
	if s.specBytes > 0 {
		w.Spec.Settings = map[string]string{}
		for i := range s.specBytes / 1000 {
			w.Spec.Settings[fmt.Sprintf("setting-%03d", i)] = strings.Repeat("x", 980)
		}
	}
	for i := range s.conditions {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{
			Type: fmt.Sprintf("Condition%03d", i), Status: metav1.ConditionTrue, ObservedGeneration: 3, LastTransitionTime: epoch,
			Reason: "AsExpected", Message: "everything that this condition tells of is as the spec asks for",
		})
	}
	if s.tasks > 0 {
		w.Status.Plan = &v1.Plan{ID: "2b0c6a7e-plan"}
	}
	for i := range s.tasks {
		w.Status.Plan.Tasks = append(w.Status.Plan.Tasks, v1.Task{Name: fmt.Sprintf("task-%d", i), Done: i < 2, Note: "drains the node first"})
	}
	for i := range s.entries {
		w.Status.Entries = append(w.Status.Entries, v1.Entry{Name: fmt.Sprintf("entry-%03d", i), State: "InSync", Count: int64(i)})
	}
	return w
}

func container(i int) corev1.Container {
	return corev1.Container{
		Name: fmt.Sprintf("container-%d", i), Image: "registry.example.com/team/image:1.2.3", Args: []string{"--port=8080", "--verbose"},
		Env:   []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "ZONE", Value: "a"}},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
	}
}

func managedFields() []metav1.ManagedFieldsEntry {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: v1.GroupVersion.String(), Time: epoch.DeepCopy(),
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}, Subresource: subresource,
		}
	}
	return []metav1.ManagedFieldsEntry{
		entry("kubectl", "", `{"f:metadata":{"f:labels":{".":{},"f:tier":{}}},"f:spec":{".":{},"f:containers":{}}}`),
		entry("controller", "status", `{"f:status":{".":{},"f:conditions":{},"f:observedGeneration":{},"f:phase":{},"f:plan":{},"f:replicas":{}}}`),
	}
}

// A change is what a reconcile decides. It assigns fields and follows no pointer, so that objects can share the rest.
type change struct {
	name string
	make func(w *v1.Workload) func(*v1.WorkloadStatus)
}

var changes = []change{
	{"nothing", func(*v1.Workload) func(*v1.WorkloadStatus) {
		return func(*v1.WorkloadStatus) {}
	}},
	{"field", func(*v1.Workload) func(*v1.WorkloadStatus) {
		return func(s *v1.WorkloadStatus) { s.Phase = "Failed" }
	}},
	{"condition", func(w *v1.Workload) func(*v1.WorkloadStatus) {
		conditions := w.DeepCopy().Status.Conditions
		last := &conditions[len(conditions)-1]
		last.Status, last.Reason, last.LastTransitionTime = metav1.ConditionFalse, "Degraded", metav1.NewTime(epoch.Add(time.Minute))
		return func(s *v1.WorkloadStatus) { s.Conditions = conditions }
	}},
	// plan has a required field in an object, which takes the patcher through trees of JSON.
	{"plan", func(w *v1.Workload) func(*v1.WorkloadStatus) {
		plan := &v1.Plan{ID: "9d1e-plan"}
		if old := w.DeepCopy().Status.Plan; old != nil {
			plan.Tasks = append(old.Tasks, v1.Task{Name: "one-more"})
		}
		return func(s *v1.WorkloadStatus) { s.Plan = plan }
	}},
}
