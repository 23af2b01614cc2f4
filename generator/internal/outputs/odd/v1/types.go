// Package v1 has types that controller-gen does not copy: arrays, generic types, types without a name, interfaces. Here they are
// copied by hand.
//
// +statuspatcher:generate=true
// +groupName=odd.statuspatcher.dev
package v1

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Odd has a status of them.
//
// +kubebuilder:subresource:status
type Odd struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            OddStatus `json:"status,omitempty"`
}

// OddStatus is made of them.
type OddStatus struct {
	Marks [3]int64       `json:"marks"`
	Pair  [2]float64     `json:"pair"`
	Lists [2][]string    `json:"lists"`
	Ptrs  *[]string      `json:"ptrs,omitempty"`
	Twice **int64        `json:"twice,omitempty"`
	Plain *time.Time     `json:"plain,omitempty"`
	At    time.Time      `json:"at,omitzero"`
	Any   any            `json:"any,omitempty"`
	Anys  map[string]any `json:"anys,omitempty"`

	Unnamed struct {
		Names []string `json:"names,omitempty"`
	} `json:"unnamed"`
	Comparable struct {
		Name string `json:"name"`
	} `json:"comparable"`
	Box      Box[string]     `json:"box"`
	Boxes    []Box[[]string] `json:"boxes,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
	*Promote `json:",inline"`
}

// Promote is embedded by pointer.
type Promote struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// Box is generic.
type Box[T any] struct {
	Value T `json:"value"`
}

// Opaque has a status that only its own package can see into.
//
// +kubebuilder:subresource:status
type Opaque struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            OpaqueStatus `json:"status,omitempty"`
}

// OpaqueStatus has a field of a type that is not exported.
type OpaqueStatus struct {
	Hidden hidden `json:"hidden"`
}

type hidden struct {
	Names []string `json:"names,omitempty"`
}

// DeepCopyInto copies by JSON, which has all that there is.
func (in *OddStatus) DeepCopyInto(out *OddStatus) {
	data, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	*out = OddStatus{}
	if err := json.Unmarshal(data, out); err != nil {
		panic(err)
	}
}

// DeepCopyObject makes a runtime.Object of Odd.
func (in *Odd) DeepCopyObject() runtime.Object {
	out := &Odd{TypeMeta: in.TypeMeta}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Status.DeepCopyInto(&out.Status)
	return out
}

// DeepCopyInto copies the list.
func (in *OpaqueStatus) DeepCopyInto(out *OpaqueStatus) {
	*out = OpaqueStatus{Hidden: hidden{Names: slices.Clone(in.Hidden.Names)}}
}

// DeepCopyObject makes a runtime.Object of Opaque.
func (in *Opaque) DeepCopyObject() runtime.Object {
	out := &Opaque{TypeMeta: in.TypeMeta}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Status.DeepCopyInto(&out.Status)
	return out
}
