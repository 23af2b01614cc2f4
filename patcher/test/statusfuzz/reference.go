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

// target is what the server should hold after a status was flushed over the base: the status, but for nulls, which a
// merge patch cannot store. A null that the base has already stays, since nothing asks for its removal.
func target(base, status any) any {
	switch s := status.(type) {
	case map[string]any:
		b, _ := base.(map[string]any)
		out := make(map[string]any, len(s))
		for key, value := range s {
			old, inBase := b[key]
			if value != nil {
				out[key] = target(old, value)
			} else if inBase && old == nil {
				out[key] = nil
			}
		}
		return out
	case []any:
		if b, isList := base.([]any); isList && reflect.DeepEqual(withoutNulls(b), withoutNulls(s)) {
			return base
		}
	}
	return withoutNulls(status)
}

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

// tree is the JSON of a status as the server sees it: every number an int64 or a float64, and no null for a required
// list or map.
func tree(status any) (map[string]any, error) {
	v := reflect.ValueOf(status)
	fillRequired(v)
	data, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	err = utiljson.Unmarshal(data, &out)
	return asStored(out).(map[string]any), err
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
