package sim

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// customKind is one version of a CRD, compiled by the packages that kube-apiserver itself compiles it with.
type customKind struct {
	structural      *structuralschema.Structural
	preserveUnknown bool
	validator       validation.SchemaValidator
	statusValidator validation.SchemaValidator
	rules           *cel.Validator
	hasDefaults     bool
}

func compileCRD(crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) (*customKind, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("expected spec.versions[].schema.openAPIV3Schema, found none; generate the CRD with controller-gen")
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&props)
	if err != nil {
		return nil, fmt.Errorf("expected a structural schema: %w", err)
	}
	k := &customKind{
		structural:      structural,
		preserveUnknown: crd.Spec.PreserveUnknownFields,
		rules:           cel.NewValidator(structural, true, celconfig.PerCallLimit),
		hasDefaults:     hasDefaults(structural),
	}
	if k.validator, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, err
	}
	if status, ok := props.Properties["status"]; ok {
		if k.statusValidator, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func hasDefaults(s *structuralschema.Structural) bool {
	found := false
	visitor := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		found = found || s.Default.Object != nil
		return false
	}}
	copied := s.DeepCopy()
	visitor.Visit(copied)
	return found
}

// decode does what kube-apiserver does while it reads a body: metadata is coerced, unknown fields are pruned, defaults are set.
func (k *Kind) decode(obj map[string]any) error {
	apiVersion, kind := obj["apiVersion"], obj["kind"]
	metadata, found, err := objectmeta.GetObjectMeta(obj, false)
	if err != nil {
		return err
	}
	if k.crd != nil {
		if !k.crd.preserveUnknown {
			pruning.Prune(obj, k.crd.structural, true)
			defaulting.PruneNonNullableNullsWithoutDefaults(obj, k.crd.structural)
		}
		if err := objectmeta.Coerce(nil, obj, k.crd.structural, false, false); err != nil {
			return err
		}
	}
	obj["apiVersion"], obj["kind"] = apiVersion, kind
	if found {
		// Bookkeeping of fields is the server's own; see manager.go.
		metadata.ManagedFields = nil
		if err := objectmeta.SetObjectMeta(obj, metadata); err != nil {
			return err
		}
	}
	k.setDefaults(obj)
	return nil
}

// appliedObject finishes what server-side apply merged. NB: unlike a body that is decoded, it goes to disk with its
// explicit nulls and empty lists, which every read drops; so the next write that changes nothing is a write.
func (k *Kind) appliedObject(obj map[string]any) (map[string]any, error) {
	if metadata, ok := obj["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	k.setDefaults(obj)
	return k.typed(obj)
}

// read does to what is on disk what every read does.
func (k *Kind) read(obj map[string]any) error {
	metadata, _, err := objectmeta.GetObjectMeta(obj, true)
	if err != nil {
		return err
	}
	if err := objectmeta.SetObjectMeta(obj, metadata); err != nil {
		return err
	}
	if !k.crd.preserveUnknown {
		defaulting.PruneNonNullableNullsWithoutDefaults(obj, k.crd.structural)
	}
	k.setDefaults(obj)
	return nil
}

func (k *Kind) setDefaults(obj map[string]any) {
	if k.crd != nil && k.crd.hasDefaults {
		defaulting.Default(obj, k.crd.structural)
	}
}

func (c *customKind) validateCreate(obj map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResource(nil, obj, c.validator)
	errs = append(errs, validateEmbedded(obj, c.structural)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structural, obj)...)
	return append(errs, c.validateRules(errs, obj, nil)...)
}

func (c *customKind) validateUpdate(obj, old map[string]any) field.ErrorList {
	correlated := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: c.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, obj, old, c.validator, validation.WithRatcheting(correlated))
	errs = append(errs, validateEmbedded(obj, c.structural)...)
	errs = append(errs, c.validateListsUpdate(obj, old)...)
	return append(errs, c.validateRules(errs, obj, old, cel.WithRatcheting(correlated))...)
}

func (c *customKind) validateStatus(obj, old map[string]any) field.ErrorList {
	correlated := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: c.structural})
	var errs field.ErrorList
	if status, ok := obj["status"]; ok && c.statusValidator != nil {
		errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old["status"], c.statusValidator,
			validation.WithRatcheting(correlated.Key("status")))
	}
	errs = append(errs, c.validateListsUpdate(obj, old)...)
	return append(errs, c.validateRules(errs, obj, old, cel.WithRatcheting(correlated))...)
}

// validateEmbedded checks embedded objects. NB: the function took a context with k8s.io v0.37.
func validateEmbedded(obj map[string]any, s *structuralschema.Structural) field.ErrorList {
	switch validate := any(objectmeta.Validate).(type) {
	case func(*field.Path, any, *structuralschema.Structural, bool) field.ErrorList:
		return validate(nil, obj, s, false)
	case func(context.Context, *field.Path, any, *structuralschema.Structural, bool) field.ErrorList:
		return validate(context.Background(), nil, obj, s, false)
	}
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("objectmeta.Validate has a signature that patchertest does not know: %T", objectmeta.Validate))}
}

// validateListsUpdate lets a list that was already wrong stay wrong, as kube-apiserver does.
func (c *customKind) validateListsUpdate(obj, old map[string]any) field.ErrorList {
	if len(listtype.ValidateListSetsAndMaps(nil, c.structural, old)) > 0 {
		return nil
	}
	return listtype.ValidateListSetsAndMaps(nil, c.structural, obj)
}

func (c *customKind) validateRules(found field.ErrorList, obj, old map[string]any, opts ...cel.Option) field.ErrorList {
	if c.rules == nil {
		return nil
	}
	for _, err := range found {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			// Rules need a well formed object.
			return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
		}
	}
	var previous any
	if old != nil {
		previous = old
	}
	errs, _ := c.rules.Validate(context.Background(), nil, c.structural, obj, previous, celconfig.RuntimeCELCostBudget, opts...)
	return errs
}
