// Package v1 has the kinds that the runtime's tests write to: every shape of status that a rule is about.
//
// +kubebuilder:object:generate=true
// +groupName=testapi.statuspatcher.dev
// +statuspatcher:generate=true
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds.
var GroupVersion = schema.GroupVersion{Group: "testapi.statuspatcher.dev", Version: "v1"}

// What the tests would need, were they not administrators.
// +kubebuilder:rbac:groups=testapi.statuspatcher.dev,resources=cells;dials;gauges;knobs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=testapi.statuspatcher.dev,resources=cells/status;dials/status;gauges/status;knobs/status,verbs=get;patch

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Cell{}, &CellList{}, &Gauge{}, &GaugeList{}, &Dial{}, &DialList{}, &Knob{}, &KnobList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
