// Package v1 has a file whose text starts each generated file.
//
// +kubebuilder:object:generate=true
// +statuspatcher:generate=true
// +groupName=header.statuspatcher.dev
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Site is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            SiteStatus `json:"status,omitempty"`
}

// SiteStatus is one of strings.
type SiteStatus struct {
	Names []string `json:"names,omitempty"`
	Part  *Part    `json:"part,omitempty"`
}

// Part is a part.
type Part struct {
	Names []string `json:"names,omitempty"`
}
