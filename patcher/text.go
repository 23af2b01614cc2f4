package patcher

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Most changes are of fields whose JSON the API server stores as it is. For those, text against text decides what
// changed, and the trees of diff.go, which cost several times as much, are not made. Where it cannot decide, trees do.

// texts are the fields of a status type, for the quick way; none where the type has embedded fields or is no struct.
type texts []textField

type textField struct {
	index    int
	key      string // as it stands in JSON, with quotes and colon
	required bool
	omitZero bool
	// plain: the JSON has no numbers but integers, nothing that marshals itself, and no object with required fields.
	plain bool
	// object: a merge patch goes into it; anything else it replaces whole.
	object bool
	// inner are the fields of an object that is not plain, which is compared field by field.
	inner texts
	// empty is what a nil list or map is sent as, where it must be.
	empty []byte
}

// textsOf reads a type, once, when a Client is made.
func textsOf(t reflect.Type) texts { return textReader{}.read(t) }

// textReader has the types that it is inside of: in a recursive one the second level is left to trees.
type textReader map[reflect.Type]bool

func (r textReader) read(t reflect.Type) texts {
	if t.Kind() != reflect.Struct || marshalsItself(t) || r[t] {
		return nil
	}
	r[t] = true
	defer delete(r, t)
	var read texts
	names := map[string]bool{}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" {
			name = sf.Name
		}
		switch {
		case sf.Anonymous, names[name]:
			return nil
		case sf.Tag.Get("json") == "-" || !sf.IsExported():
			continue
		}
		names[name] = true
		read = append(read, r.readField(sf, name, options))
	}
	return read
}

func (r textReader) readField(sf reflect.StructField, name, options string) textField {
	key, err := json.Marshal(name)
	f := textField{index: sf.Index[0], key: string(key) + ":", required: isRequired(sf.Type, options)}
	inner := sf.Type
	for inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	f.object = inner.Kind() == reflect.Map || inner.Kind() == reflect.Struct && !plainStructs[inner]
	f.omitZero = hasOption(options, "omitzero")
	if err == nil && !(f.omitZero && hasOwnZero(sf.Type)) {
		f.plain = isPlain(sf.Type, false, map[plainQuestion]bool{})
		if f.object && !f.plain {
			f.inner = r.readObject(sf.Type)
		}
	}
	switch sf.Type.Kind() {
	case reflect.Slice:
		f.empty = []byte("[]")
	case reflect.Map:
		f.empty = []byte("{}")
	}
	return f
}

// hasOwnZero: omitzero then leaves out other values than omitempty would, or than the zero one.
func hasOwnZero(t reflect.Type) bool {
	_, own := reflect.PointerTo(t).MethodByName("IsZero")
	return own || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer && hasOwnZero(t.Elem())
}

// readObject follows one pointer; a pointer to a pointer has no texts.
func (r textReader) readObject(t reflect.Type) texts {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return r.read(t)
}

// plainStructs marshal themselves, as a string that the API server keeps.
var plainStructs = map[reflect.Type]bool{
	reflect.TypeFor[metav1.Time]():      true,
	reflect.TypeFor[metav1.MicroTime](): true,
	reflect.TypeFor[metav1.Duration]():  true,
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

func marshalsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Implements(marshaler) || p.Implements(marshaler) || t.Implements(textMarshaler) || p.Implements(textMarshaler)
}

// plainQuestion is one that was asked: a type may be recursive.
type plainQuestion struct {
	t      reflect.Type
	inList bool
}

// isPlain answers for a type; what is in a list may have required fields, since a list is sent whole.
func isPlain(t reflect.Type, inList bool, asked map[plainQuestion]bool) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if plainStructs[t] {
		return true
	}
	if marshalsItself(t) || t == reflect.TypeFor[json.Number]() {
		return false
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return true
	case reflect.Slice, reflect.Array:
		return t.Elem().Kind() != reflect.Uint8 && isPlain(t.Elem(), true, asked)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && !marshalsItself(t.Key()) && isPlain(t.Elem(), inList, asked)
	case reflect.Struct:
		return isPlainStruct(t, inList, asked)
	}
	return false
}

func isPlainStruct(t reflect.Type, inList bool, asked map[plainQuestion]bool) bool {
	question := plainQuestion{t, inList}
	if asked[question] {
		return true
	}
	asked[question] = true
	for i := range t.NumField() {
		sf := t.Field(i)
		_, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case sf.Anonymous:
			return false
		case sf.Tag.Get("json") == "-" || !sf.IsExported():
		case !inList && isRequired(sf.Type, options), !isPlain(sf.Type, inList, asked):
			return false
		}
	}
	return true
}
