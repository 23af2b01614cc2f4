// Package v1 has its patchers in itself.
//
// +kubebuilder:object:generate=true
// +statuspatcher:generate=true
// +groupName=same.statuspatcher.dev
package v1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cell has a status that only its own package can see into.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Cell struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            status `json:"status,omitempty"`
}

// status is not exported.
type status struct {
	Phase  string   `json:"phase,omitempty"`
	Parts  []part   `json:"parts,omitempty"`
	Labels []string `json:"labels,omitempty"`
}

// DeepCopyInto is by hand: controller-gen leaves out what is not exported.
func (in *status) DeepCopyInto(out *status) {
	*out = *in
	out.Labels = slices.Clone(in.Labels)
	out.Parts = slices.Clone(in.Parts)
	for i := range out.Parts {
		out.Parts[i].Names = slices.Clone(in.Parts[i].Names)
	}
}

type part struct {
	Names []string `json:"names,omitempty"`
}

// equalPart is a name that the generator would like to have.
func equalPart(a, b part) bool { return len(a.Names) == len(b.Names) }

var _ = equalPart
