package patchertest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checkPaths refuses an invariant whose path no kind of the model has: it would hold whatever happens.
func checkPaths(m *Model) error {
	for _, invariant := range m.Invariants {
		for _, path := range invariant.paths {
			if err := checkPath(m, invariant.name, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPath(m *Model, invariant, path string) error {
	var closest []string // what there is in the place of the first name that does not exist
	depth, missing := -1, ""
	for _, obj := range kindsOf(m) {
		typ := reflect.TypeOf(obj).Elem()
		if !hasJSON(typ) {
			return nil // unstructured: its fields are not known
		}
		at, siblings := follow(typ, strings.Split(path, "."))
		if at < 0 {
			return nil
		}
		if at > depth {
			depth, closest, missing = at, siblings, typ.Name()
		}
	}
	for _, crd := range m.CRDs {
		for _, version := range crd.Spec.Versions {
			if version.Schema != nil && schemaHas(version.Schema.OpenAPIV3Schema, strings.Split(path, ".")) {
				return nil
			}
		}
	}
	name := strings.Split(path, ".")[max(depth, 0)]
	return fmt.Errorf("%s: no kind of the model has the field %s: %s has no %q there, expected one of %s",
		invariant, path, missing, name, strings.Join(closest, ", "))
}

// kindsOf lists an object of each type that the model names.
func kindsOf(m *Model) []client.Object {
	var out []client.Object
	add := func(obj client.Object) {
		if obj != nil && !slices.ContainsFunc(out, func(other client.Object) bool { return reflect.TypeOf(other) == reflect.TypeOf(obj) }) {
			out = append(out, obj)
		}
	}
	for _, c := range m.Controllers {
		add(c.For)
		for _, obj := range c.Owns {
			add(obj)
		}
		for _, w := range c.Watches {
			add(w.Object)
		}
	}
	for _, obj := range m.Objects {
		add(obj)
	}
	return out
}

// follow returns how many names of a path lead through a Go type, and the JSON names where it ends. The depth is -1 if the type
// has the whole path, or may have it.
func follow(typ reflect.Type, path []string) (int, []string) {
	for depth, name := range path {
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Map || typ.Kind() == reflect.Interface || customJSON(typ) {
			return -1, nil
		}
		if typ.Kind() != reflect.Struct {
			return depth, nil
		}
		fields := jsonFields(typ)
		next, ok := fields[name]
		if !ok {
			names := []string{}
			for name := range fields {
				names = append(names, name)
			}
			slices.Sort(names)
			return depth, names
		}
		typ = next
	}
	return -1, nil
}

func hasJSON(typ reflect.Type) bool { return typ.Kind() == reflect.Struct && len(jsonFields(typ)) > 2 }

func customJSON(typ reflect.Type) bool {
	for _, t := range []reflect.Type{typ, reflect.PointerTo(typ)} {
		if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return true
		}
	}
	return false
}

func jsonFields(typ reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && (field.Anonymous || strings.Contains(options, "inline")) {
			inner := field.Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				for n, t := range jsonFields(inner) {
					out[n] = t
				}
			}
			continue
		}
		if name == "" {
			name = field.Name
		}
		if name != "-" && field.IsExported() {
			out[name] = field.Type
		}
	}
	return out
}

func schemaHas(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	switch {
	case s == nil:
		return false
	case len(path) == 0, s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		return true
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema == nil || schemaHas(s.AdditionalProperties.Schema, path[1:])
	}
	next, ok := s.Properties[path[0]]
	return ok && schemaHas(&next, path[1:])
}
