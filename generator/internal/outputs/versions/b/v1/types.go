// Package v1 is one of two of its name, and of two versions of one API.
//
// +kubebuilder:object:generate=true
// +statuspatcher:generate=true
// +groupName=b.statuspatcher.dev
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	other "github.com/statuspatcher/statuspatcher/generator/internal/outputs/versions/a/v1"
	"github.com/statuspatcher/statuspatcher/generator/internal/outputs/versions/a/v1beta1"
)

// Site is a kind in each of these packages.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            SiteStatus `json:"status,omitempty"`
}

// SiteStatus is b/v1's.
type SiteStatus struct {
	Names []string `json:"names,omitempty"`
	Part  *Part    `json:"part,omitempty"`

	Other []other.Part            `json:"other,omitempty"`
	Beta  map[string]v1beta1.Part `json:"beta,omitempty"`
}

// Part has the same name everywhere.
type Part struct {
	Names []string `json:"names,omitempty"`
}
