// Package v1 has a status with a field of every type that is compared in its own way.
//
// +kubebuilder:object:generate=true
// +groupName=fields.statuspatcher.dev
package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Cell has them all.
//
// +statuspatcher:generate=true
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Cell struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CellSpec   `json:"spec,omitempty"`
	Status CellStatus `json:"status,omitempty"`
}

// CellSpec says nothing about the status.
type CellSpec struct {
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
}

// CellStatus has a field of every sort.
type CellStatus struct {
	Strict   `json:",inline"`
	Times    `json:",inline"`
	Foreign  `json:",inline"`
	Numbers  Numbers  `json:"numbers"`
	Omitted  Omitted  `json:"omitted,omitempty"`
	Zero     Omitted  `json:"zero,omitzero"`
	Nested   Nested   `json:"nested,omitempty"`
	Tree     *Node    `json:"tree,omitempty"`
	Forest   Forest   `json:"forest,omitempty"`
	Internal string   `json:"-"`
	Dash     []string `json:"-,"`
	NoTag    []string

	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// Phase is a string of its own.
type Phase string

// Strict has nothing but what == compares.
type Strict struct {
	Phase   Phase          `json:"phase,omitempty"`
	Ready   bool           `json:"ready"`
	Count   int32          `json:"count,omitempty"`
	UID     types.UID      `json:"uid,omitempty"`
	Point   Point          `json:"point,omitempty"`
	Points  []Point        `json:"points,omitempty"`
	Named   map[Phase]bool `json:"named,omitempty"`
	Pointer *Point         `json:"pointer,omitempty"`
	Bytes   []byte         `json:"bytes,omitempty"`
	Alias   PointAlias     `json:"alias,omitzero"`
}

// Point is comparable.
type Point struct {
	X int32 `json:"x"`
	Y int32 `json:"y,omitempty"`
}

// PointAlias is another name for Point.
type PointAlias = Point

// Times are compared by value, with their zone.
type Times struct {
	At       metav1.Time       `json:"at,omitempty"`
	AtPtr    *metav1.Time      `json:"atPtr,omitempty"`
	AtList   []metav1.Time     `json:"atList,omitempty"`
	Micro    metav1.MicroTime  `json:"micro,omitempty"`
	MicroPtr *metav1.MicroTime `json:"microPtr,omitempty"`
	Duration metav1.Duration   `json:"duration,omitempty"`
	Last     Entry             `json:"last,omitempty"`
	Entries  []Entry           `json:"entries,omitempty"`
}

// Entry has a time in it.
type Entry struct {
	Name string      `json:"name"`
	Time metav1.Time `json:"time,omitempty"`
}

// Foreign are types of other modules.
type Foreign struct {
	Limit     resource.Quantity            `json:"limit,omitempty"`
	LimitPtr  *resource.Quantity           `json:"limitPtr,omitempty"`
	Port      intstr.IntOrString           `json:"port,omitempty"`
	PortPtr   *intstr.IntOrString          `json:"portPtr,omitempty"`
	Free      runtime.RawExtension         `json:"free,omitempty"`
	FreePtr   *runtime.RawExtension        `json:"freePtr,omitempty"`
	Resources corev1.ResourceList          `json:"resources,omitempty"`
	Reference *corev1.ObjectReference      `json:"reference,omitempty"`
	Secret    *corev1.SecretKeySelector    `json:"secret,omitempty"`
	Taints    []corev1.Taint               `json:"taints,omitempty"`
	Selector  *metav1.LabelSelector        `json:"selector,omitempty"`
	Owners    []metav1.OwnerReference      `json:"owners,omitempty"`
	Addresses []corev1.NodeAddress         `json:"addresses,omitempty"`
	ByName    map[string]resource.Quantity `json:"byName,omitempty"`
}

// Numbers are floats, of which 0 and -0 differ.
type Numbers struct {
	Load    float64              `json:"load"`
	Loads   []float64            `json:"loads,omitempty"`
	Ratio   *float32             `json:"ratio,omitempty"`
	ByName  map[string]float64   `json:"byName,omitempty"`
	Matrix  [][]float64          `json:"matrix,omitempty"`
	Deep    map[string][]float64 `json:"deep,omitempty"`
	Weight  Weight               `json:"weight,omitempty"`
	Weights []Weight             `json:"weights,omitempty"`
}

// Weight is a float of its own.
type Weight float64

// Omitted is a struct, which omitempty does not leave out, and omitzero does.
type Omitted struct {
	Names []string `json:"names,omitempty"`
}

// Nested is made of containers of containers.
type Nested struct {
	Lists   [][]string          `json:"lists,omitempty"`
	Maps    map[string][]string `json:"maps,omitempty"`
	Structs map[string]Omitted  `json:"structs,omitempty"`
	Ptrs    []*Omitted          `json:"ptrs,omitempty"`
	PtrMap  map[string]*Omitted `json:"ptrMap,omitempty"`
	Names   NameList            `json:"names,omitempty"`
	Index   Index               `json:"index,omitempty"`
	Times   map[string]Entry    `json:"times,omitempty"`
}

// NameList and Index are containers with a name.
type (
	NameList []string
	Index    map[string]Omitted
)

// Node contains itself.
type Node struct {
	Name     string           `json:"name"`
	Children []Node           `json:"children,omitempty"`
	Next     *Node            `json:"next,omitempty"`
	ByName   map[string]*Node `json:"byName,omitempty"`
}

// Forest contains itself, with no struct in between.
type Forest map[string]Forest

// DeepCopyInto is by hand: controller-gen never comes back from such a type.
func (in Forest) DeepCopyInto(out *Forest) {
	*out = make(Forest, len(in))
	for name, tree := range in {
		(*out)[name] = tree.DeepCopy()
	}
}

// DeepCopy copies the forest, and no forest to none.
func (in Forest) DeepCopy() Forest {
	if in == nil {
		return nil
	}
	out := new(Forest)
	in.DeepCopyInto(out)
	return *out
}
