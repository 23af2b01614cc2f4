// Package v1 has kinds whose status has contracts: fields that are written once, and several owners.
//
// +kubebuilder:object:generate=true
// +groupName=contracts.statuspatcher.dev
// +statuspatcher:generate=true
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds.
var GroupVersion = schema.GroupVersion{Group: "contracts.statuspatcher.dev", Version: "v1"}

// AddToScheme registers the kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Order{}, &OrderList{}, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
