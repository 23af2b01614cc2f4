package patcher_test

import (
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

// Three variants of the Cell's CRD, in groups of their own: one whose status has fields that our Go type does not know, one
// that has such fields in its storage version only, with conversion None, and one without the status subresource.
var (
	newerCells = schema.GroupVersionKind{Group: "newer.statuspatcher.dev", Version: "v1", Kind: "Cell"}
	splitCells = schema.GroupVersionKind{Group: "split.statuspatcher.dev", Version: "v1", Kind: "Cell"}
	bareCells  = schema.GroupVersionKind{Group: "bare.statuspatcher.dev", Version: "v1", Kind: "Cell"}
)

func variants() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	newer, err := cellCRD(newerCells.Group)
	if err != nil {
		return nil, err
	}
	keepUnknownStatus(&newer.Spec.Versions[0])
	split, err := cellCRD(splitCells.Group)
	if err != nil {
		return nil, err
	}
	storage := split.Spec.Versions[0].DeepCopy()
	storage.Name = "v2"
	keepUnknownStatus(storage)
	split.Spec.Versions[0].Storage = false
	split.Spec.Versions = append(split.Spec.Versions, *storage)
	split.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	bare, err := cellCRD(bareCells.Group)
	if err != nil {
		return nil, err
	}
	bare.Spec.Versions[0].Subresources = nil
	return []*apiextensionsv1.CustomResourceDefinition{newer, split, bare}, nil
}

func cellCRD(group string) (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile("crd/testapi.statuspatcher.dev_cells.yaml")
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		return nil, err
	}
	crd.Name, crd.Spec.Group = "cells."+group, group
	return crd, nil
}

func keepUnknownStatus(version *apiextensionsv1.CustomResourceDefinitionVersion) {
	root := version.Schema.OpenAPIV3Schema
	status := root.Properties["status"]
	keepUnknown(&status)
	root.Properties["status"] = status
}

// keepUnknown stands for the fields that a newer schema has, at each level: what our Go type does not know is not pruned.
func keepUnknown(schema *apiextensionsv1.JSONSchemaProps) {
	if schema.Type == "object" {
		schema.XPreserveUnknownFields = ptr.To(true)
	}
	for name, property := range schema.Properties {
		keepUnknown(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		keepUnknown(schema.Items.Schema)
	}
}

// schemeWith has our Cell type under another group, as an older controller has the same kind.
func schemeWith(t testing.TB, gvk schema.GroupVersionKind) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(gvk, &v1.Cell{})
	scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind("CellList"), &v1.CellList{})
	metav1.AddToGroupVersion(scheme, gvk.GroupVersion())
	return scheme
}

func olderClient(t testing.TB) client.WithWatch { return server.Client(t, schemeWith(t, newerCells)) }

// newerCell is the bed's object of the newer kind, as raw fields.
func newerCell(b *bed) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(newerCells)
	obj.SetNamespace(b.key.Namespace)
	obj.SetName(b.key.Name)
	return obj
}
