package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OrderSpec is there for the generation.
type OrderSpec struct {
	// +optional
	Size int32 `json:"size,omitempty"`
}

// OrderStatus has write-once fields of every type, at every depth.
type OrderStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Plan is an object of its own, which may go.
	// +optional
	Plan *Plan `json:"plan,omitempty"`

	// VolumeID is a string of a type of its own.
	// +statuspatcher:writeOnce
	// +optional
	VolumeID types.UID `json:"volumeID,omitempty"`

	// Address is one identity.
	// +statuspatcher:writeOnce
	// +optional
	Address *Address `json:"address,omitempty"`

	// Port may be 0.
	// +statuspatcher:writeOnce
	// +optional
	Port *int32 `json:"port,omitempty"`

	Parts Parts `json:"parts"`

	// History has old plans, which come and go.
	// +optional
	History []Plan `json:"history,omitempty"`
}

// Plan is made once, and has two identities.
type Plan struct {
	// +statuspatcher:writeOnce
	ID string `json:"id"`
	// SnapshotID is assigned by an external system.
	// +statuspatcher:writeOnce
	// +optional
	SnapshotID string `json:"snapshotID,omitempty"`
	// Steps is required.
	Steps []string `json:"steps"`
	// +kubebuilder:default=gentle
	// +optional
	Mode string `json:"mode,omitempty"`
}

// Address is an ID that means nothing without its region.
type Address struct {
	ARN    string `json:"arn"`
	Region string `json:"region"`
}

// Parts is always there.
type Parts struct {
	// +statuspatcher:writeOnce
	// +optional
	Serial string `json:"serial,omitempty"`
	Ready  bool   `json:"ready"`
}

// Order is the kind with write-once fields.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Order struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   OrderSpec   `json:"spec,omitempty"`
	Status OrderStatus `json:"status,omitempty"`
}

// OrderList is a list of Orders.
//
// +kubebuilder:object:root=true
type OrderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Order `json:"items"`
}
