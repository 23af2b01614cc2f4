package sim

import (
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// typeConverter tells server-side apply which lists are maps, sets or atoms. Kinds without a CRD have a deduced type:
// their lists are atoms.
func (k *Kind) typeConverter() managedfields.TypeConverter {
	if k.crd == nil {
		return managedfields.NewDeducedTypeConverter()
	}
	return k.crd.typer
}

func newTypeConverter(k *Kind) (managedfields.TypeConverter, error) {
	root := k.crd.structural.ToKubeOpenAPI()
	if root.Properties == nil {
		root.Properties = map[string]spec.Schema{}
	}
	root.Properties["apiVersion"] = *spec.StringProperty()
	root.Properties["kind"] = *spec.StringProperty()
	root.Properties["metadata"] = objectMetaSchema()
	root.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{
		"group": k.GVK.Group, "version": k.GVK.Version, "kind": k.GVK.Kind}})
	return managedfields.NewTypeConverter(map[string]*spec.Schema{k.GVK.String(): root}, k.crd.preserveUnknown)
}

// objectMetaSchema has the fields of metadata that several managers share; the CRD itself only says "object".
func objectMetaSchema() spec.Schema {
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
		"managedFields": *spec.ArrayProperty(spec.MapProperty(spec.StringProperty())),
	}}}
}
