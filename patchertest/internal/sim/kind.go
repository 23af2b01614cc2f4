// Package sim is an API server in memory: what kube-apiserver answers to one request, without the network, the
// disk and the goroutines. It is the ground that patchertest explores on, and is held against a real kube-apiserver.
package sim

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is one resource of the API, and all that the server needs to know of it.
type Kind struct {
	GVK        schema.GroupVersionKind
	Plural     string
	Namespaced bool
	HasStatus  bool // it has a status subresource
	Builtin    bool // its Go type lives in k8s.io/api

	goType reflect.Type
	crd    *customKind // nil without a CRD: nothing is pruned, defaulted or validated but metadata
	typer  func() (managedfields.TypeConverter, error)
}

// Resource is the kind's group, version and plural name.
func (k *Kind) Resource() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Plural)
}

func (k *Kind) groupResource() schema.GroupResource { return k.Resource().GroupResource() }

// Catalog is every kind that a server serves. It is immutable, and shared by all servers of an exploration.
type Catalog struct {
	Scheme *runtime.Scheme
	Mapper meta.RESTMapper

	byResource map[schema.GroupVersionResource]*Kind
	byGVK      map[schema.GroupVersionKind]*Kind
}

// NewCatalog learns the kinds from the scheme and, for custom resources, scope, subresources and schema from the CRDs.
// A custom kind without a CRD is namespaced, has a status subresource if its Go type has a Status field, and no schema.
func NewCatalog(scheme *runtime.Scheme, crds []*apiextensionsv1.CustomResourceDefinition) (*Catalog, error) {
	if scheme == nil {
		return nil, fmt.Errorf("no scheme: expected Model.Scheme to know every kind of the model, found nil")
	}
	c := &Catalog{
		Scheme:     scheme,
		byResource: map[schema.GroupVersionResource]*Kind{},
		byGVK:      map[schema.GroupVersionKind]*Kind{},
	}
	for _, crd := range crds {
		if err := c.addCRD(crd); err != nil {
			return nil, err
		}
	}
	for gvk, typ := range scheme.AllKnownTypes() {
		c.addType(gvk, typ)
	}
	c.Mapper = c.buildMapper()
	return c, nil
}

func (c *Catalog) addCRD(crd *apiextensionsv1.CustomResourceDefinition) error {
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if !version.Served {
			continue
		}
		custom, err := compileCRD(crd, version)
		if err != nil {
			return fmt.Errorf("CRD %s, version %s: %w", crd.Name, version.Name, err)
		}
		c.add(&Kind{
			GVK:        schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind},
			Plural:     crd.Spec.Names.Plural,
			Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			HasStatus:  version.Subresources != nil && version.Subresources.Status != nil,
			crd:        custom,
		})
	}
	return nil
}

var objectType = reflect.TypeFor[client.Object]()

func (c *Catalog) addType(gvk schema.GroupVersionKind, typ reflect.Type) {
	if !reflect.PointerTo(typ).Implements(objectType) || gvk.Version == runtime.APIVersionInternal {
		return
	}
	if known, ok := c.byGVK[gvk]; ok {
		known.goType = typ
		return
	}
	_, hasStatus := typ.FieldByName("Status")
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	c.add(&Kind{
		GVK:        gvk,
		Plural:     plural.Resource,
		Namespaced: !clusterScoped[gvk.Kind],
		HasStatus:  hasStatus,
		Builtin:    strings.HasPrefix(typ.PkgPath(), "k8s.io/api/"),
		goType:     typ,
	})
}

func (c *Catalog) add(k *Kind) {
	// Compiled on the first apply: most models have none.
	k.typer = sync.OnceValues(func() (managedfields.TypeConverter, error) { return newTypeConverter(k) })
	c.byGVK[k.GVK] = k
	c.byResource[k.Resource()] = k
}

func (c *Catalog) buildMapper() meta.RESTMapper {
	kinds := make([]*Kind, 0, len(c.byGVK))
	for _, k := range c.byGVK {
		kinds = append(kinds, k)
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].GVK.String() < kinds[j].GVK.String() })
	mapper := meta.NewDefaultRESTMapper(c.Scheme.PrioritizedVersionsAllGroups())
	for _, k := range kinds {
		scope := meta.RESTScopeRoot
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		singular := k.GVK.GroupVersion().WithResource(strings.ToLower(k.GVK.Kind))
		mapper.AddSpecific(k.GVK, k.Resource(), singular, scope)
	}
	return mapper
}

// KindFor finds the kind of a Go object, typed or unstructured.
func (c *Catalog) KindFor(obj runtime.Object) (*Kind, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvks, _, err := c.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, fmt.Errorf("kind of %T: expected a type of Model.Scheme: %w", obj, err)
		}
		gvk = gvks[0]
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	k, ok := c.byGVK[gvk]
	if !ok {
		return nil, fmt.Errorf("kind %s: expected a kind of Model.Scheme or Model.CRDs; add it to either", gvk)
	}
	return k, nil
}

// clusterScoped holds the built-in kinds that have no namespace; the scheme does not say.
var clusterScoped = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"StorageClass": true, "VolumeAttachment": true, "CSIDriver": true, "CSINode": true, "PriorityClass": true,
	"RuntimeClass": true, "IngressClass": true, "ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true,
	"APIService": true, "CustomResourceDefinition": true, "CertificateSigningRequest": true, "FlowSchema": true,
	"PriorityLevelConfiguration": true, "ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true,
	"MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true, "ClusterTrustBundle": true,
	"DeviceClass": true, "ResourceSlice": true, "ServiceCIDR": true, "IPAddress": true,
}
