package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GaugeStatus has required fields of every kind, whose zero values a diff omits.
type GaugeStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`

	Ready  bool              `json:"ready"`
	Count  int32             `json:"count"`
	Reason string            `json:"reason"`
	Items  []string          `json:"items"`
	Links  map[string]string `json:"links"`
	Limit  resource.Quantity `json:"limit"`
	Nested Nested            `json:"nested"`
	// Soft has nothing required in it, and is itself required.
	Soft Soft `json:"soft"`
	// +optional
	Entries []Entry `json:"entries,omitempty"`
	// +nullable
	Holder *string `json:"holder,omitempty"`
}

// Nested is a required struct with required fields.
type Nested struct {
	On    bool     `json:"on"`
	Level int64    `json:"level"`
	Deep  DeepPart `json:"deep"`
}

// DeepPart is one level further down.
type DeepPart struct {
	Marks []int32 `json:"marks"`
}

// Soft has optional fields only.
type Soft struct {
	// +optional
	Hint string `json:"hint,omitempty"`
}

// Entry is a list item with required fields.
type Entry struct {
	Name  string   `json:"name"`
	Ready bool     `json:"ready"`
	Tags  []string `json:"tags"`
}

// Gauge is the cluster-scoped kind with required fields.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type Gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status GaugeStatus `json:"status,omitempty"`
}

// GaugeList is a list of Gauges.
//
// +kubebuilder:object:root=true
type GaugeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gauge `json:"items"`
}
