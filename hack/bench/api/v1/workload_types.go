// Package v1 has the kind that the benchmarks write.
//
// +kubebuilder:object:generate=true
// +groupName=bench.statuspatcher.dev
// +statuspatcher:generate=true
package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the Workload.
var GroupVersion = schema.GroupVersion{Group: "bench.statuspatcher.dev", Version: "v1"}

// AddToScheme registers the Workload.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Workload{}, &WorkloadList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// WorkloadSpec can be made as large as one likes.
type WorkloadSpec struct {
	// +optional
	Containers []corev1.Container `json:"containers,omitempty"`
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// WorkloadStatus has what the statuses of well-known operators have.
type WorkloadStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// +optional
	Entries []Entry `json:"entries,omitempty"`
	// Landed counts writes, so that one that is lost is missed.
	// +optional
	Landed int64 `json:"landed,omitempty"`
	// +optional
	LastSync *metav1.Time `json:"lastSync,omitempty"`
}

// Plan is made once and worked off.
type Plan struct {
	ID string `json:"id"`
	// +optional
	Tasks []Task `json:"tasks,omitempty"`
}

// Task is one action of a plan.
type Task struct {
	Name string `json:"name"`
	Done bool   `json:"done"`
	// +optional
	Note string `json:"note,omitempty"`
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
}

// Entry is an item of a long list.
type Entry struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Count int64  `json:"count"`
}

// Workload is the kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkloadSpec   `json:"spec,omitempty"`
	Status WorkloadStatus `json:"status,omitempty"`
}

// GetConditions is what the helpers of Flux and cluster-api ask of a kind whose conditions they are to merge.
func (w *Workload) GetConditions() []metav1.Condition { return w.Status.Conditions }

// SetConditions goes with GetConditions.
func (w *Workload) SetConditions(conditions []metav1.Condition) { w.Status.Conditions = conditions }

// WorkloadList is a list of Workloads.
//
// +kubebuilder:object:root=true
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}
