package sim

import (
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// newTypeConverter tells server-side apply which lists are maps, sets or atoms. Of kinds without a CRD only the metadata
// is known: their other lists are atoms.
func newTypeConverter(k *Kind) (managedfields.TypeConverter, error) {
	root, preserve := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}, false
	if k.crd != nil {
		root, preserve = k.crd.structural.ToKubeOpenAPI(), k.crd.preserveUnknown
	} else {
		root.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	}
	if root.Properties == nil {
		root.Properties = map[string]spec.Schema{}
	}
	root.Properties["apiVersion"] = *spec.StringProperty()
	root.Properties["kind"] = *spec.StringProperty()
	root.Properties["metadata"] = objectMetaSchema()
	root.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{
		"group": k.GVK.Group, "version": k.GVK.Version, "kind": k.GVK.Kind}})
	return managedfields.NewTypeConverter(map[string]*spec.Schema{k.GVK.String(): root}, preserve)
}

// objectMetaSchema has the fields of metadata that several managers share; the CRD itself only says "object".
func objectMetaSchema() spec.Schema {
	anything := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
	anything.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	text := func() spec.Schema { return *spec.StringProperty() }
	texts := func() spec.Schema { return *spec.MapProperty(spec.StringProperty()) }
	owner := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": text(), "kind": text(), "name": text(), "uid": text(),
		"controller": *spec.BooleanProperty(), "blockOwnerDeletion": *spec.BooleanProperty()}}}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := *spec.ArrayProperty(&owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	finalizers := *spec.ArrayProperty(spec.StringProperty())
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"name": text(), "namespace": text(), "generateName": text(), "uid": text(), "resourceVersion": text(), "selfLink": text(),
		"creationTimestamp": text(), "deletionTimestamp": text(),
		"generation": *spec.Int64Property(), "deletionGracePeriodSeconds": *spec.Int64Property(),
		"labels": texts(), "annotations": texts(), "finalizers": finalizers, "ownerReferences": owners,
		"managedFields": *spec.ArrayProperty(&anything),
	}}}
}
