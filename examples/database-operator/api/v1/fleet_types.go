package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FleetSpec is what the user wants of several Databases at once.
type FleetSpec struct {
	// Selector picks the Databases of the fleet, among those of its namespace.
	Selector metav1.LabelSelector `json:"selector"`

	// Paused is what the fleet sets spec.paused of its Databases to.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// FleetStatus sums the Databases up.
type FleetStatus struct {
	// ObservedGeneration is the generation of the spec that every Database of the fleet has followed. It is held while a
	// plan runs.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Databases is how many there are. It and the counts below are required: 0 is an answer.
	Databases int32 `json:"databases"`
	// Ready is how many of them are in phase Ready.
	Ready int32 `json:"ready"`
	// Paused is how many of them are in phase Paused.
	Paused int32 `json:"paused"`
}

// Fleet is a group of Databases that are paused together.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Databases",type=integer,JSONPath=`.status.databases`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.ready`
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FleetSpec   `json:"spec,omitempty"`
	Status FleetStatus `json:"status,omitempty"`
}

// FleetList is a list of Fleets.
//
// +kubebuilder:object:root=true
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}
