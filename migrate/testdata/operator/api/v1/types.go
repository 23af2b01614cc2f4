// Package v1 has the kind that the fixtures write.
//
// +kubebuilder:object:generate=true
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CellSpec is what a user asks for.
//
// +kubebuilder:object:generate=true
type CellSpec struct {
	Size int `json:"size,omitempty"`
}

// CellStatus is what was observed.
//
// +kubebuilder:object:generate=true
type CellStatus struct {
	Phase              string             `json:"phase,omitempty"`
	Plan               *string            `json:"plan,omitempty"`
	Count              int                `json:"count,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Cell is the fixtures' kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Cell struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CellSpec   `json:"spec,omitempty"`
	Status CellStatus `json:"status,omitempty"`
}

// CellList is a list of cells.
//
// +kubebuilder:object:root=true
type CellList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cell `json:"items"`
}
