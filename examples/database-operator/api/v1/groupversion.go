// Package v1 is the API of the example operator.
//
// +kubebuilder:object:generate=true
// +groupName=example.statuspatcher.dev
// +statuspatcher:generate=true
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the example's kinds.
var GroupVersion = schema.GroupVersion{Group: "example.statuspatcher.dev", Version: "v1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Database{}, &DatabaseList{},
		&Fleet{}, &FleetList{},
		&Backup{}, &BackupList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
