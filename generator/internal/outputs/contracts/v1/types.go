// Package v1 has a kind whose status is a pointer, with write-once fields from another package, and two owners.
//
// +kubebuilder:object:generate=true
// +groupName=contracts.statuspatcher.dev
// +statuspatcher:generate=true
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statuspatcher/statuspatcher/generator/internal/outputs/contracts/shared"
)

// Deed is shared by two controllers.
//
// +statuspatcher:owner=store,fields=store;madeBy,conditions=Stored,reads=status.phase
// +statuspatcher:owner=gate,entries=gates[controller=example.com/gate,name],reads=none,ignores=labels;annotations
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Deed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status *DeedStatus `json:"status,omitempty"`
}

// DeedStatus is what was done.
type DeedStatus struct {
	shared.Made `json:",inline"`

	Phase string `json:"phase,omitempty"`
	Store *Store `json:"store,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Gates      []Gate             `json:"gates,omitempty"`
	// History has stores that are gone.
	History []Store `json:"history,omitempty"`
}

// Store is made outside.
type Store struct {
	// Volume is assigned by the cloud.
	//
	// +statuspatcher:writeOnce
	Volume *shared.Volume `json:"volume,omitempty"`

	Ready bool `json:"ready"`
}

// Gate has an entry for each controller.
type Gate struct {
	Controller string `json:"controller"`
	Name       string `json:"name"`
	Open       bool   `json:"open"`
}
