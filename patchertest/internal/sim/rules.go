package sim

import (
	"reflect"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// generationGroups holds the built-in groups whose kinds count spec changes; ConfigMaps, Secrets and the like do not.
var generationGroups = map[string]bool{"apps": true, "batch": true, "policy": true, "networking.k8s.io": true}

func (k *Kind) countsGenerations() bool {
	return !k.Builtin || generationGroups[k.GVK.Group]
}

// unconditional tells whether an update without resourceVersion is let through.
func (k *Kind) unconditional() bool { return k.Builtin }

// parse reads a body. Its numbers are int64 and float64, as everywhere in the API machinery.
func parse(body []byte) (map[string]any, error) {
	var obj map[string]any
	if err := utiljson.Unmarshal(body, &obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// typed drops what the Go type of a built-in kind does not know, as a server that decodes into that type does.
func (k *Kind) typed(obj map[string]any) (map[string]any, error) {
	if !k.Builtin || k.goType == nil {
		return obj, nil
	}
	into := reflect.New(k.goType).Interface()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj, into); err != nil {
		return nil, err
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
	if err != nil {
		return nil, err
	}
	dropEmpty(out)
	return out, nil
}

// dropEmpty removes the two values that encoding a Go type adds and that no client wrote.
func dropEmpty(obj map[string]any) {
	if metadata, ok := obj["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	if status, ok := obj["status"].(map[string]any); ok && len(status) == 0 {
		delete(obj, "status")
	}
}

func (k *Kind) validateCreate(obj map[string]any) field.ErrorList {
	u := &unstructured.Unstructured{Object: obj}
	errs := k.validateType(u)
	if len(errs) > 0 {
		return errs
	}
	errs = apivalidation.ValidateObjectMetaAccessor(u, k.Namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if k.crd != nil {
		errs = append(errs, k.crd.validateCreate(obj)...)
	}
	return errs
}

func (k *Kind) validateUpdate(obj, old map[string]any, isStatus bool) field.ErrorList {
	u, o := &unstructured.Unstructured{Object: obj}, &unstructured.Unstructured{Object: old}
	errs := k.validateType(u)
	if len(errs) > 0 {
		return errs
	}
	errs = apivalidation.ValidateObjectMetaAccessorUpdate(u, o, field.NewPath("metadata"))
	switch {
	case k.crd == nil:
	case isStatus:
		errs = append(errs, k.crd.validateStatus(obj, old)...)
	default:
		errs = append(errs, apivalidation.ValidateObjectMetaAccessor(u, k.Namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
		errs = append(errs, k.crd.validateUpdate(obj, old)...)
	}
	return errs
}

func (k *Kind) validateType(u *unstructured.Unstructured) field.ErrorList {
	if u.GetKind() != k.GVK.Kind {
		return field.ErrorList{field.Invalid(field.NewPath("kind"), u.GetKind(), "must be "+k.GVK.Kind)}
	}
	if apiVersion := k.GVK.GroupVersion().String(); u.GetAPIVersion() != apiVersion {
		return field.ErrorList{field.Invalid(field.NewPath("apiVersion"), u.GetAPIVersion(), "must be "+apiVersion)}
	}
	return nil
}

// prepareUpdate keeps from the old object what this endpoint may not write, and counts the generation.
func (k *Kind) prepareUpdate(obj, old map[string]any, isStatus bool) map[string]any {
	if isStatus {
		return withField(runtime.DeepCopyJSON(old), "status", obj)
	}
	u, o := &unstructured.Unstructured{Object: obj}, &unstructured.Unstructured{Object: old}
	u.SetGeneration(o.GetGeneration())
	if k.HasStatus {
		obj = withField(obj, "status", old)
	}
	if k.countsGenerations() && !equalWithout(obj, old, "metadata", k.Builtin) {
		u.SetGeneration(o.GetGeneration() + 1)
	}
	if u.GetUID() == "" {
		u.SetUID(o.GetUID())
	}
	u.SetCreationTimestamp(o.GetCreationTimestamp())
	if deleting := o.GetDeletionTimestamp(); deleting != nil {
		u.SetDeletionTimestamp(deleting)
	}
	if o.GetDeletionGracePeriodSeconds() != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(o.GetDeletionGracePeriodSeconds())
	}
	return obj
}

// withField sets a top-level field of obj to what it is in from, absent included.
func withField(obj map[string]any, name string, from map[string]any) map[string]any {
	if value, ok := from[name]; ok {
		obj[name] = value
	} else {
		delete(obj, name)
	}
	return obj
}

// equalWithout compares all but metadata; for a built-in kind the spec alone.
func equalWithout(a, b map[string]any, skip string, specOnly bool) bool {
	if specOnly {
		return equalJSON(a["spec"], b["spec"])
	}
	for name, value := range a {
		if other, ok := b[name]; name != skip && (!ok || !equalJSON(value, other)) {
			return false
		}
	}
	for name := range b {
		if _, ok := a[name]; name != skip && !ok {
			return false
		}
	}
	return true
}

// equalJSON compares two decoded JSON values; it is many times faster than reflect.DeepEqual on them.
func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, value := range x {
			if other, ok := y[name]; !ok || !equalJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalJSON(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// EqualJSON tells whether two decoded JSON values are the same.
func EqualJSON(a, b any) bool { return equalJSON(a, b) }
