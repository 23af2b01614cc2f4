package statusfuzz

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// now is the time of every pair, so that a pair means the same whenever it runs.
var now = time.Unix(1700000000, 0)

// withoutNulls is a copy without the nulls in objects, at any depth. In a list a null is an element like any other.
func withoutNulls(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(tree))
		for key, value := range tree {
			if value != nil {
				out[key] = withoutNulls(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(tree))
		for i, value := range tree {
			out[i] = withoutNulls(value)
		}
		return out
	}
	return tree
}

func copyTree(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(tree))
		for key, value := range tree {
			out[key] = copyTree(value)
		}
		return out
	case []any:
		out := make([]any, len(tree))
		for i, value := range tree {
			out[i] = copyTree(value)
		}
		return out
	}
	return tree
}

// dropOptionalNulls removes the nulls of fields that omitempty or omitzero may leave out, and of maps, in place. Other nulls are
// values: those of fields that are always there, of lists, and of what marshals itself.
func dropOptionalNulls(tree any, t reflect.Type) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	object, isObject := tree.(map[string]any)
	switch {
	case reflect.PointerTo(t).Implements(marshaler):
	case t.Kind() == reflect.Slice:
		if list, ok := tree.([]any); ok {
			for _, element := range list {
				dropOptionalNulls(element, t.Elem())
			}
		}
	case t.Kind() == reflect.Map && isObject:
		for key, value := range object {
			if value == nil {
				delete(object, key)
			} else {
				dropOptionalNulls(value, t.Elem())
			}
		}
	case t.Kind() == reflect.Struct && isObject:
		for _, field := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			value, there := object[name]
			switch {
			case !there:
			case value == nil && strings.Contains(options, "omit"):
				delete(object, name)
			default:
				dropOptionalNulls(value, field.Type)
			}
		}
	}
	return tree
}

// hasNullable reports whether a field that is always there can be null.
func hasNullable(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch {
	case seen[t]:
		return false
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		return hasNullable(t.Elem(), seen)
	case t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(marshaler):
		return false
	}
	seen[t] = true
	for _, field := range reflect.VisibleFields(t) {
		kind, marshals := field.Type.Kind(), reflect.PointerTo(field.Type).Implements(marshaler)
		always := !strings.Contains(field.Tag.Get("json"), ",omit") && !field.Anonymous
		if always && (kind == reflect.Pointer || marshals) || hasNullable(field.Type, seen) {
			return true
		}
	}
	return false
}

// overlay adds to tree what only extra has.
func overlay(tree, extra any) any {
	t, isObject := tree.(map[string]any)
	e, too := extra.(map[string]any)
	if !isObject || !too {
		return tree
	}
	for key, value := range e {
		if own, ok := t[key]; ok {
			t[key] = overlay(own, value)
		} else {
			t[key] = value
		}
	}
	return t
}

// tree is the JSON of a status as the server sees it: every number an int64 or a float64, no null for a required list or
// map, and none that may be left out.
func tree(status any) (map[string]any, error) {
	v := reflect.ValueOf(status)
	fillRequired(v)
	data, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	err = utiljson.Unmarshal(data, &out)
	return dropOptionalNulls(asStored(out), v.Type()).(map[string]any), err
}

// asStored makes an int64 of each float64 that the server writes as one, and so reads as one the next time.
func asStored(tree any) any {
	switch value := tree.(type) {
	case float64:
		if text, err := json.Marshal(value); err == nil {
			if i, err := strconv.ParseInt(string(text), 10, 64); err == nil {
				return i
			}
		}
	case map[string]any:
		for key, v := range value {
			value[key] = asStored(v)
		}
	case []any:
		for i, v := range value {
			value[i] = asStored(v)
		}
	}
	return tree
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// fillRequired makes each nil list and map whose field has no omitempty an empty one, in place.
func fillRequired(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillRequired(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillRequired(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			fillRequired(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		if v.Type().Implements(marshaler) || reflect.PointerTo(v.Type()).Implements(marshaler) {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillField(v.Field(i), v.Type().Field(i))
			}
		}
	}
}

func fillField(v reflect.Value, field reflect.StructField) {
	tag := field.Tag.Get("json")
	switch isNil := v.Kind() == reflect.Slice || v.Kind() == reflect.Map; {
	case tag == "-", strings.Contains(tag, ",omitzero") && v.IsZero():
	case isNil && v.IsNil() && !strings.Contains(tag, ",omit"):
		if v.Kind() == reflect.Map {
			v.Set(reflect.MakeMap(v.Type()))
		} else {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	default:
		fillRequired(v)
	}
}

// normalConditions does to conditions what a flush promises to do: the base's transition time where the status is the
// same, now where there is none, and messages cut at 32768 characters.
func normalConditions(base, conditions []metav1.Condition) {
	for i := range conditions {
		c := &conditions[i]
		before := slices.IndexFunc(base, func(b metav1.Condition) bool { return b.Type == c.Type })
		if before >= 0 && base[before].Status == c.Status {
			c.LastTransitionTime = base[before].LastTransitionTime
		}
		if c.LastTransitionTime.IsZero() {
			c.LastTransitionTime = metav1.NewTime(now)
		}
		if runes := []rune(c.Message); len(runes) > 32768 {
			c.Message = string(runes[:32768])
		}
	}
}
