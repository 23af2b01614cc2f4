package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DatabaseSpec is what the user wants.
type DatabaseSpec struct {
	// Image is what the database's pods run.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`

	// Replicas is how many pods there are when the database is not paused.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Paused scales the database to zero.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Settings are passed to the pods as environment variables.
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// Phase is where a Database is in its life.
// +kubebuilder:validation:Enum=Planned;Ready;Paused
type Phase string

const (
	PhasePlanned Phase = "Planned"
	PhaseReady   Phase = "Ready"
	PhasePaused  Phase = "Paused"
)

const (
	// ConditionReady is true when what the spec asks for is so.
	ConditionReady = "Ready"
	// ConditionPausedByFleet is set on a Database by the Fleet that it is in.
	ConditionPausedByFleet = "PausedByFleet"
)

// Finalizer keeps a Database until its StatefulSet is gone, and a Backup until its claim is.
const Finalizer = "example.statuspatcher.dev/cleanup"

// DatabaseStatus is what the operator has done.
type DatabaseStatus struct {
	// Phase sums the conditions up.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// ObservedGeneration is the generation of the spec that the rest of the status tells of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Plan is how the operator gets from what is to what the spec asks for. It is made once and persisted before its first
	// step is taken: the steps are not idempotent across two plans.
	// +optional
	Plan *Plan `json:"plan,omitempty"`

	// StatefulSet is the workload that this Database runs on.
	// +optional
	StatefulSet *TrackedObject `json:"statefulSet,omitempty"`

	// Backup is the one Backup that may read from this Database now. The Backup writes it: it is the lock between Backups.
	// +optional
	Backup *TrackedObject `json:"backup,omitempty"`
}

// Plan is a list of steps under an ID that no other plan has.
type Plan struct {
	// ID names the plan; the workload carries it, so that it can be told which plan made it. It is claimed before the plan is made.
	// +statuspatcher:writeOnce
	ID string `json:"id"`

	// Generation is that of the spec that the plan is for; 0 until the plan is made.
	Generation int64 `json:"generation"`

	// +listType=atomic
	Steps []Step `json:"steps"`
}

// Step is one action of a plan.
type Step struct {
	Name string `json:"name"`
	// Done is required: a step always says whether it was taken.
	Done bool `json:"done"`
}

// TrackedObject names an object and tells it from another one of the same name.
type TrackedObject struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Database runs a database. The Fleet that it is in and the Backups of it write parts of its status.
//
// +statuspatcher:owner=fleet,conditions=PausedByFleet,reads=none
// +statuspatcher:owner=backup,fields=backup,reads=status.phase
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.plan.id`
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec   `json:"spec,omitempty"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseList is a list of Databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}
