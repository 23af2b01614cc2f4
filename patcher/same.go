package patcher

import (
	"math"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// same reports whether two values have the same JSON, where that shows without making any. A false that is wrong costs
// the time of making the JSON of both.
func (s *shape) same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Kind() == reflect.Pointer {
		return a.Pointer() == b.Pointer() || !a.IsNil() && !b.IsNil() && s.same(a.Elem(), b.Elem())
	}
	switch s.kind {
	case scalar:
		return sameScalar(a, b)
	case list:
		return s.sameList(a, b)
	case object:
		for i := range s.members {
			m := &s.members[i]
			if !m.shape.same(m.of(a), m.of(b)) {
				return false
			}
		}
		return true
	}
	return false
}

func (s *shape) sameList(a, b reflect.Value) bool {
	if a.Len() != b.Len() || a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
		return false
	}
	for i := range a.Len() {
		if !s.elem.same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func sameScalar(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		return a.String() == b.String()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return a.Uint() == b.Uint()
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Struct:
		return a.CanAddr() && b.CanAddr() && sameTime(a.Addr().Interface(), b.Addr().Interface())
	}
	return false
}

func sameTime(a, b any) bool {
	t, ok := a.(*metav1.Time)
	return ok && EqualTime(t, b.(*metav1.Time))
}
