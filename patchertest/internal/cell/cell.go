// Package cell is the API of the test kit's own tests: a kind with a plan that must be minted once, and its CRD.
package cell

import (
	_ "embed"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// GroupVersion of the kinds of this package.
var GroupVersion = schema.GroupVersion{Group: "test.statuspatcher.dev", Version: "v1"}

// Spec is what the user wants.
type Spec struct {
	Size    int64             `json:"size,omitempty"`
	Paused  bool              `json:"paused,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Ports   []Port            `json:"ports,omitempty"`
	Members []string          `json:"members,omitempty"`
	Mode    string            `json:"mode,omitempty"`
}

// Port is an entry of a list that is a map by name.
type Port struct {
	Name   string `json:"name"`
	Number int64  `json:"number,omitempty"`
}

// Plan is what must exist once.
type Plan struct {
	ID   string `json:"id"`
	Step int64  `json:"step,omitempty"`
}

// Status is what controllers write.
type Status struct {
	Plan               *Plan              `json:"plan,omitempty"`
	Phase              string             `json:"phase,omitempty"`
	Child              string             `json:"child,omitempty"`
	Seen               int64              `json:"seen,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Cell is the kind under test.
type Cell struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// CellList is a list of cells.
type CellList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cell `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (c *Cell) DeepCopyObject() runtime.Object { return c.DeepCopy() }

// DeepCopy copies a cell.
func (c *Cell) DeepCopy() *Cell {
	out := *c
	out.ObjectMeta = *c.ObjectMeta.DeepCopy()
	if c.Spec.Tags != nil {
		out.Spec.Tags = map[string]string{}
		for k, v := range c.Spec.Tags {
			out.Spec.Tags[k] = v
		}
	}
	out.Spec.Ports = append([]Port(nil), c.Spec.Ports...)
	out.Spec.Members = append([]string(nil), c.Spec.Members...)
	if c.Status.Plan != nil {
		plan := *c.Status.Plan
		out.Status.Plan = &plan
	}
	if c.Status.Conditions != nil {
		out.Status.Conditions = append([]metav1.Condition{}, c.Status.Conditions...)
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *CellList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return &out
}

// NewScheme knows cells and the core kinds.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(GroupVersion, &Cell{}, &CellList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return scheme
}

//go:embed crd.yaml
var crd []byte

// CRDYAML is the CRD as text.
func CRDYAML() []byte { return crd }

// CRDs are the CRDs of this package.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	var out apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd, &out); err != nil {
		panic(err)
	}
	return []*apiextensionsv1.CustomResourceDefinition{&out}
}
