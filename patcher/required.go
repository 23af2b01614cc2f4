package patcher

import "reflect"

// A diff omits what is zero on both sides, so the first write of a kind with a required `ready: false` would be refused:
// the server has no such field yet, and the Go value cannot tell. What is required and zero in the base therefore counts
// as absent from it, at every level of objects, and travels with any patch.

// dropZeros removes from base each required field that is zero there and still in status.
func (f *fields) dropZeros(base, status any) {
	b, isObject := base.(map[string]any)
	s, too := status.(map[string]any)
	if f == nil || f.list || !isObject || !too {
		return
	}
	for name, old := range b {
		value, kept := s[name]
		if !kept {
			continue
		}
		known, inStruct := f.ofStruct[name]
		if !inStruct {
			f.elem.dropZeros(old, value)
			continue
		}
		known.fields.dropZeros(old, value)
		if known.required && known.isZero(old) {
			delete(b, name)
		}
	}
}

// isZero: an object of which nothing is left may not be on the server itself.
func (f *field) isZero(tree any) bool {
	if object, ok := tree.(map[string]any); ok && len(object) == 0 {
		return true
	}
	return f.zero != nil && reflect.DeepEqual(tree, f.zero)
}

// hiding are the optional fields of a status in which a required field can be zero.
type hiding []field

func (f *fields) hiding() (found hiding) {
	if f == nil {
		return nil
	}
	for _, known := range f.ofStruct {
		if !known.required && known.fields.canHoldZero(map[*fields]bool{}) {
			found = append(found, known)
		}
	}
	return found
}

// canHoldZero says of the type what holdsZero says of a value.
func (f *fields) canHoldZero(asked map[*fields]bool) bool {
	if f == nil || f.list || asked[f] {
		return false
	}
	asked[f] = true
	for _, known := range f.ofStruct {
		if known.required || known.fields.canHoldZero(asked) {
			return true
		}
	}
	return f.elem.canHoldZero(asked)
}

// untrim puts back the fields that were trimmed as equal but hold something that must travel.
func (h hiding) untrim(base, status, trimmedBase, trimmedStatus reflect.Value) {
	if status.Kind() != reflect.Struct {
		return
	}
	for _, known := range h {
		v, err := status.FieldByIndexErr(known.index)
		if err != nil || v.IsZero() || !known.fields.holdsZero(v) {
			continue
		}
		if trimmed := trimmedStatus.FieldByIndex(known.index); trimmed.IsZero() {
			trimmed.Set(v)
			trimmedBase.FieldByIndex(known.index).Set(base.FieldByIndex(known.index))
		}
	}
}

// holdsZero reports whether a required field is zero in value, at any level of objects.
func (f *fields) holdsZero(value reflect.Value) bool {
	if f == nil || f.list {
		return false
	}
	for value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return false
		}
		value = value.Elem()
	}
	if value.Kind() == reflect.Map {
		return f.elem.holdsZeroInMap(value)
	}
	for _, known := range f.ofStruct {
		v, err := value.FieldByIndexErr(known.index)
		if err != nil {
			continue
		}
		if known.required && isEmpty(v) || known.fields.holdsZero(v) {
			return true
		}
	}
	return false
}

func (f *fields) holdsZeroInMap(value reflect.Value) bool {
	if f == nil {
		return false
	}
	for entries := value.MapRange(); entries.Next(); {
		if f.holdsZero(entries.Value()) {
			return true
		}
	}
	return false
}

func isEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Slice, reflect.Map:
		return value.Len() == 0
	}
	return value.IsZero()
}
