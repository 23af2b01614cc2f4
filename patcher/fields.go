package patcher

import (
	"encoding/json"
	"reflect"
	"strings"
)

// fields describes the JSON of a Go type as far as required fields need it. A field without omitempty is always in the
// JSON of the Go value, but perhaps not yet on the server, which refuses a status that lacks a required one.
type fields struct {
	// ofStruct has the fields of a struct, with those of its embedded structs.
	ofStruct map[string]field
	// elem is the element of a list or a map.
	elem *fields
	// list: sent whole or not at all, so it is complete when it is sent.
	list bool
}

type field struct {
	index    []int
	fields   *fields
	required bool
	// zero is what the zero value is sent as; nil where that is nothing that a merge patch could store.
	zero any
}

// fieldsOf reads a type, once, when a Client is made. A type that marshals itself is opaque: nil.
func fieldsOf(t reflect.Type) *fields { return fieldReader{}.read(t) }

// fieldReader remembers the types that were read, since a type may be recursive.
type fieldReader map[reflect.Type]*fields

var marshaler = reflect.TypeFor[json.Marshaler]()

func (r fieldReader) read(t reflect.Type) *fields {
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return nil
	}
	if f, ok := r[t]; ok {
		return f
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.read(t.Elem())
	case reflect.Slice, reflect.Array, reflect.Map:
		f := &fields{list: t.Kind() != reflect.Map}
		r[t] = f
		f.elem = r.read(t.Elem())
		return f
	case reflect.Struct:
		f := &fields{ofStruct: map[string]field{}}
		r[t] = f
		r.readStruct(t, nil, f)
		return f
	}
	return nil
}

// readStruct follows encoding/json: an embedded struct without a name lends its fields, and an outer field hides them.
func (r fieldReader) readStruct(t reflect.Type, outer []int, into *fields) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case sf.Tag.Get("json") == "-":
		case sf.Anonymous && name == "" && isStruct(sf.Type):
			embedded = append(embedded, sf)
		case sf.IsExported():
			if name == "" {
				name = sf.Name
			}
			if _, hidden := into.ofStruct[name]; !hidden {
				into.ofStruct[name] = r.readField(sf, outer, options)
			}
		}
	}
	for _, sf := range embedded {
		t := sf.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		r.readStruct(t, append(outer[:len(outer):len(outer)], sf.Index...), into)
	}
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

func (r fieldReader) readField(sf reflect.StructField, outer []int, options string) field {
	return field{
		index:    append(outer[:len(outer):len(outer)], sf.Index...),
		fields:   r.read(sf.Type),
		required: isRequired(sf.Type, options),
		zero:     zeroTree(sf.Type),
	}
}

// zeroTree is [] and {} for a list and a map, whose nil is null in JSON.
func zeroTree(t reflect.Type) any {
	var zero reflect.Value
	switch t.Kind() {
	case reflect.Slice:
		zero = reflect.MakeSlice(t, 0, 0)
	case reflect.Map:
		zero = reflect.MakeMap(t)
	default:
		zero = reflect.Zero(t)
	}
	data, err := json.Marshal(zero.Interface())
	if err != nil {
		return nil
	}
	tree, err := decodeTree(data)
	if err != nil {
		return nil
	}
	return tree
}

// isRequired follows encoding/json: omitempty says nothing of a struct, which is never empty, and omitzero does.
func isRequired(t reflect.Type, options string) bool {
	switch {
	case hasOption(options, "omitzero"):
		return false
	case hasOption(options, "omitempty"):
		return t.Kind() == reflect.Struct || t.Kind() == reflect.Array && t.Len() > 0
	}
	return true
}

func hasOption(options, name string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == name {
			return true
		}
	}
	return false
}

// fillEmpty puts [] and {} where a nil list or map without omitempty has null, which a merge patch would take for a
// deletion and a schema would refuse. It changes tree in place.
func (f *fields) fillEmpty(tree any) {
	if f == nil {
		return
	}
	switch value := tree.(type) {
	case []any:
		for _, v := range value {
			f.elem.fillEmpty(v)
		}
	case map[string]any:
		for name, v := range value {
			known, inStruct := f.ofStruct[name]
			switch {
			case !inStruct:
				f.elem.fillEmpty(v)
			case v == nil && known.required:
				value[name] = copyEmpty(known.zero)
			default:
				known.fields.fillEmpty(v)
			}
		}
	}
}

// copyEmpty gives each tree its own, since trees are changed in place.
func copyEmpty(zero any) any {
	switch zero.(type) {
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	}
	return zero
}
