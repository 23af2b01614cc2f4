// Package v1 is one of two of its name, and of two versions of one API.
//
// +kubebuilder:object:generate=true
// +statuspatcher:generate=true
// +groupName=a.statuspatcher.dev
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Site is a kind in each of these packages.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            SiteStatus `json:"status,omitempty"`
}

// SiteStatus is a/v1's.
type SiteStatus struct {
	Names []string `json:"names,omitempty"`
	Part  *Part    `json:"part,omitempty"`
}

// Part has the same name everywhere.
type Part struct {
	Names []string `json:"names,omitempty"`
}
