package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KnobStatus has fields that are required and may be null, and tags with odd rules.
type KnobStatus struct {
	KnobParts `json:",inline"`

	// +optional
	Phase string `json:"phase,omitempty"`
	// Holder must be there, and is null when nobody holds the knob.
	// +nullable
	Holder *string `json:"holder"`
	// Bytes is a number that is written as a string.
	// +kubebuilder:validation:Type=string
	Bytes int64 `json:"bytes,string"`
	// Odd has a name that must be escaped in a path.
	// +optional
	Odd string `json:"a/b~c,omitempty"`
	// +optional
	Claims []Claim `json:"claims,omitempty"`
	// +optional
	Limits map[string]Limit `json:"limits,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Free *runtime.RawExtension `json:"free,omitempty"`
}

// KnobParts is embedded.
type KnobParts struct {
	Grip Grip `json:"grip"`
	// +optional
	Spare *Grip `json:"spare,omitempty"`
}

// Grip is an object with a required field that may be null.
type Grip struct {
	// +nullable
	Angle *int64 `json:"angle"`
	// +optional
	Label string `json:"label,omitempty"`
}

// Claim is a list item with required fields that may be null.
type Claim struct {
	Name string `json:"name"`
	// +nullable
	Owner *string `json:"owner"`
	// +nullable
	Since *metav1.Time `json:"since"`
	// +optional
	Note string `json:"note,omitempty"`
	// +optional
	Tags []string `json:"tags,omitempty"`
}

// Limit is a map's value with a required field that may be null.
type Limit struct {
	// +nullable
	Max *int64 `json:"max"`
	// +optional
	Unit string `json:"unit,omitempty"`
}

// Knob is the kind whose status a merge patch cannot always write.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type Knob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status KnobStatus `json:"status,omitempty"`
}

// KnobList is a list of Knobs.
//
// +kubebuilder:object:root=true
type KnobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Knob `json:"items"`
}
