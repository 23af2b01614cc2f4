package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// SchemeBuilder registers the kinds.
var SchemeBuilder = scheme.Builder{GroupVersion: schema.GroupVersion{Group: "operator.example.com", Version: "v1"}}

// Register adds the kinds to the builder; tests call it, so that there is no init.
func Register() *scheme.Builder { return SchemeBuilder.Register(&Cell{}, &CellList{}) }
