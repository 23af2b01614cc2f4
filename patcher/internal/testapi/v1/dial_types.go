package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DialStatus has required fields at every level of objects, as a Gauge does, and none whose JSON takes a look into trees.
type DialStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`

	Ready  bool   `json:"ready"`
	Nested Nested `json:"nested"`
	Soft   Soft   `json:"soft"`
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// Turn has a level more, each of which may be there or not.
	// +optional
	Turn *Turn `json:"turn,omitempty"`
	// Idle is not there when it is zero, and has a required field when it is.
	// +optional
	Idle Nested `json:"idle,omitempty,omitzero"`
	// +optional
	Entries []Entry `json:"entries,omitempty"`
}

// Turn is an optional object of required and optional ones.
type Turn struct {
	Angle  int32  `json:"angle"`
	Soft   Soft   `json:"soft"`
	Nested Nested `json:"nested"`
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// Dial is the kind whose objects are compared field by field.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type Dial struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status DialStatus `json:"status,omitempty"`
}

// DialList is a list of Dials.
//
// +kubebuilder:object:root=true
type DialList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Dial `json:"items"`
}
