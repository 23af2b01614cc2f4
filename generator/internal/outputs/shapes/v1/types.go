// Package v1 has kinds whose Status is somewhere else, and kinds with difficult names.
//
// +kubebuilder:object:generate=true
// +statuspatcher:generate=true
// +groupName=shapes.statuspatcher.dev
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statuspatcher/statuspatcher/generator/internal/outputs/shapes/shared"
)

// Pointer has a status that may be nil. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
type Pointer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            *PointerStatus `json:"status,omitempty"`
}

// PointerStatus is pointed to.
type PointerStatus struct {
	Phase              string             `json:"phase,omitempty"`
	Names              []string           `json:"names,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// Promoted has a status by embedding.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Promoted struct {
	Base `json:",inline"`
}

// Base is what a kind embeds.
type Base struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            Type `json:"status,omitempty"`
}

// Type is a status that is comparable, and named like a keyword.
type Type struct {
	Func   string `json:"func,omitempty"`
	Range  int64  `json:"range,omitempty"`
	String string `json:"string"`
}

// Elsewhere has a status of another package.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Elsewhere struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            shared.Status `json:"status,omitempty"`
}

// Map is a keyword in lower case, and a status with fields named like methods of a patcher.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Map struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            MapStatus `json:"status,omitempty"`
}

// MapStatus is a name that another package might have.
type MapStatus struct {
	Flush  []string `json:"flush,omitempty"`
	Object []string `json:"object,omitempty"`
	Equal  float64  `json:"equal"`
}

// Patcher is named like a package that the generated file imports.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Patcher struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            Labels `json:"status,omitempty"`
}

// Labels is a status that is no struct.
type Labels map[string]string

// HTTPRoute starts with an abbreviation. Its status has a tag that needs quoting.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type HTTPRoute struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            HTTPRouteStatus `json:"status,omitempty"`
}

// HTTPRouteStatus has parts of another package that cannot be compared from outside.
type HTTPRouteStatus struct {
	Parts []shared.Part    `json:"parts,omitempty"`
	Weird map[string]*Type "json:\"weird,omitempty\" note:\"`quoted`\""
}

// Kept is not generated for.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +statuspatcher:generate=false
type Kept struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            MapStatus `json:"status,omitempty"`
}
