package patcher

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Most changes are of fields whose JSON the API server stores as it is. For those, text against text decides what
// changed, and the trees of diff.go, which cost some ten times as much, are not made. Where it cannot decide, trees do.

// texts are the fields of a status type, for the quick way; none where the type has embedded fields or is no struct.
type texts []textField

type textField struct {
	index    int
	key      string // as it stands in JSON, with quotes and colon
	required bool
	// plain: the JSON has no numbers but integers, nothing that marshals itself, and no object with required fields.
	plain bool
	// object: a merge patch goes into it; anything else it replaces whole.
	object bool
	// empty is what a nil list or map is sent as, where it must be.
	empty []byte
}

func textsOf(t reflect.Type) texts {
	if t.Kind() != reflect.Struct || marshalsItself(t) {
		return nil
	}
	var read texts
	names := map[string]bool{}
	for sf := range t.Fields() {
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
		read = append(read, readTextField(sf, name, options))
	}
	return read
}

func readTextField(sf reflect.StructField, name, options string) textField {
	f := textField{index: sf.Index[0], required: isRequired(sf.Type, options)}
	key, err := json.Marshal(name)
	f.key = string(key) + ":"
	f.plain = err == nil && !strings.Contains(options, "omitzero") && isPlain(sf.Type, false, map[plainQuestion]bool{})
	inner := sf.Type
	for inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	f.object = inner.Kind() == reflect.Map || inner.Kind() == reflect.Struct && !plainStructs[inner]
	switch sf.Type.Kind() {
	case reflect.Slice:
		f.empty = []byte("[]")
	case reflect.Map:
		f.empty = []byte("{}")
	}
	return f
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
	case reflect.Pointer:
		return isPlain(t.Elem(), inList, asked)
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
	for sf := range t.Fields() {
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

// textDiff is what two statuses differ in, as JSON objects; nil for an empty one.
type textDiff struct {
	base, status json.RawMessage
	changed      bool
}

// diff reports !ok where texts cannot decide.
func (fs texts) diff(base, status reflect.Value) (d textDiff, ok bool) {
	for i := range fs {
		f := &fs[i]
		was, ok1 := f.text(base.Field(f.index))
		is, ok2 := f.text(status.Field(f.index))
		if !ok1 || !ok2 {
			return textDiff{}, false
		}
		same := bytes.Equal(was, is)
		d.changed = d.changed || !same
		if f.required && (string(was) == "{}" || isEmpty(base.Field(f.index))) {
			was = nil // perhaps not on the server yet, so it travels
		} else if same {
			continue
		}
		// What a merge patch replaces whole need not be in the base to be found different.
		if was != nil && (is == nil || f.object) {
			d.base = appendField(d.base, f.key, was)
		}
		if is != nil {
			d.status = appendField(d.status, f.key, is)
		}
	}
	return d, len(fs) > 0
}

// text is the JSON of the field; nil when it is omitted. A null is not plain: a merge patch cannot store it.
func (f *textField) text(v reflect.Value) (text []byte, ok bool) {
	switch {
	case !f.plain:
		return nil, !f.required && v.IsZero()
	case isEmpty(v) && !f.required:
		return nil, true
	case isEmpty(v) && f.empty != nil:
		return f.empty, true
	}
	text, err := json.Marshal(v.Addr().Interface())
	return text, err == nil && string(text) != "null" && !bytes.Contains(text, []byte(":null")) && !bytes.Contains(text, badByte)
}

// badByte is how a byte that is no UTF-8 is written; the server answers with the character itself, which is written as it
// is, so the same message, cut inside a rune, say, would be another text for ever.
var badByte = []byte(`\ufffd`)

func appendField(object json.RawMessage, key string, value []byte) json.RawMessage {
	if object == nil {
		object = make(json.RawMessage, 0, len(key)+len(value)+2)
		object = append(object, '{')
	} else {
		object[len(object)-1] = ','
	}
	object = append(object, key...)
	object = append(object, value...)
	return append(object, '}')
}
