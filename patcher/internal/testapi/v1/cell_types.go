package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CellSpec is large enough that a leak of it would show.
type CellSpec struct {
	// +optional
	Image string `json:"image,omitempty"`
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// CellStatus has optional fields of every shape.
type CellStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// +optional
	Writers []string `json:"writers,omitempty"`
	// +optional
	Shares map[string]Share `json:"shares,omitempty"`
	// +optional
	LastSync *metav1.Time `json:"lastSync,omitempty"`
	// +optional
	Counter int64 `json:"counter,omitempty"`
	// +kubebuilder:default=standard
	// +optional
	Tier string `json:"tier,omitempty"`
	// Free is stored as it is, but for what a merge patch cannot store.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Free *runtime.RawExtension `json:"free,omitempty"`
}

// Plan is minted once.
type Plan struct {
	ID    string `json:"id"`
	Done  bool   `json:"done"`
	Tasks []Task `json:"tasks,omitempty"`
}

// Task is a list item.
type Task struct {
	Name string `json:"name"`
	// +optional
	Note string `json:"note,omitempty"`
}

// Share is a map's value with a required zero.
type Share struct {
	Weight int32 `json:"weight"`
	// +optional
	Owner string `json:"owner,omitempty"`
}

// Cell is the kind that most rules are tested on.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Cell struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CellSpec   `json:"spec,omitempty"`
	Status CellStatus `json:"status,omitempty"`
}

// CellList is a list of Cells.
//
// +kubebuilder:object:root=true
type CellList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cell `json:"items"`
}
