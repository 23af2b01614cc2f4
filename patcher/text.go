package patcher

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// What changed is decided on the text of the JSON as the API server stores it.

var (
	nullText   = []byte("null")
	nullMember = []byte(":null")
	// badByte is how encoding/json writes a byte that is not UTF-8. The server responds with the character itself, so the
	// same message, cut inside a rune for example, would be another text every time.
	badByte = []byte(`\ufffd`)
)

func isNull(text []byte) bool { return bytes.Equal(text, nullText) }

// hasNull reports whether the text is null, or has an object with a null in it: what a merge patch cannot store.
func hasNull(text []byte) bool {
	if isNull(text) || !bytes.Contains(text, nullMember) {
		return isNull(text)
	}
	tree, err := decodeTree(text)
	return err == nil && treeHasNull(tree)
}

func treeHasNull(tree any) bool {
	switch value := tree.(type) {
	case map[string]any:
		for _, v := range value {
			if v == nil || treeHasNull(v) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, treeHasNull)
	}
	return false
}

// texts returns the JSON of the member's values in the base and in the status, spelled alike, so that they are equal if
// the API server stores the same for both; nil for one that is left out.
func (m *member) texts(was, is reflect.Value) (old, text []byte, err error) {
	if old, err = m.text(was); err != nil {
		return nil, nil, err
	}
	if text, err = m.text(is); err != nil || m.shape.isExact(old) && m.shape.isExact(text) {
		return old, text, err
	}
	if old, err = m.shape.canonical(old); err != nil {
		return nil, nil, err
	}
	text, err = m.shape.canonical(text)
	return old, text, err
}

// text returns the JSON of the member as encoding/json writes it, but for a nil list or map that is required.
func (m *member) text(v reflect.Value) ([]byte, error) {
	switch {
	case !v.IsValid():
		return nil, nil
	case m.zero != nil && isNilable(v.Kind()) && v.Len() == 0:
		return m.zero, nil
	case m.quoted != nil:
		return m.quotedText(v)
	case m.shape.kind == scalar && m.shape.exact && v.Kind() == reflect.String:
		return quote(v.String()), nil
	case !v.CanInterface():
		return m.shape.builtText(v)
	case v.CanAddr():
		return json.Marshal(v.Addr().Interface())
	}
	return json.Marshal(v.Interface())
}

func isNilable(kind reflect.Kind) bool { return kind == reflect.Slice || kind == reflect.Map }

// quotedText leaves the string option to encoding/json: it has rules of its own for each kind.
func (m *member) quotedText(v reflect.Value) ([]byte, error) {
	carrier := reflect.New(m.quoted).Elem()
	carrier.Field(0).Set(v)
	text, err := json.Marshal(carrier.Interface())
	if err != nil {
		return nil, err
	}
	return text[len(`{"f":`) : len(text)-1], nil
}

// builtText is for an embedded struct that is not exported and has a name in JSON: reflection hands out its members only.
func (s *shape) builtText(v reflect.Value) ([]byte, error) {
	if v = indirect(v); !v.IsValid() {
		return nullText, nil
	}
	var found deltas
	err := s.diff(&found, reflect.Value{}, v, nil)
	if err != nil {
		return nil, err
	}
	_, text, err := mergeMembers(found.members)
	return orEmpty(text), err
}

// isExact reports whether the API server stores the text as it is.
func (s *shape) isExact(text []byte) bool {
	return text == nil || s.exact && !bytes.Contains(text, nullMember) && !bytes.Contains(text, badByte)
}

// canonical spells the text as the API server does, with the members of objects in the order of their names.
func (s *shape) canonical(text []byte) ([]byte, error) {
	if text == nil {
		return nil, nil
	}
	tree, err := decodeTree(text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s.normalize(tree))
}

func decodeTree(text []byte) (tree any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&tree)
	return tree, err
}

// normalize changes tree, in place where it can: numbers are spelled as the server spells them, a nil list or map that is
// required becomes an empty one, and a null that an option may leave out goes, since the Go type reads both alike. The nulls of
// free-form JSON are values.
func (s *shape) normalize(tree any) any {
	switch value := tree.(type) {
	case json.Number:
		return spell(value)
	case []any:
		for i, v := range value {
			value[i] = s.inner("").normalize(v)
		}
	case map[string]any:
		for name, v := range value {
			switch m := s.byName[name]; {
			case v != nil:
				value[name] = s.inner(name).normalize(v)
			case m != nil && m.zero != nil:
				value[name] = json.RawMessage(m.zero)
			case s.kind != free && (m == nil || !m.nullable):
				delete(value, name)
			}
		}
	}
	return tree
}

var freeForm = &shape{kind: free}

// inner is the shape of a member or an element; of what the type does not know anything may be.
func (s *shape) inner(name string) *shape {
	if m := s.byName[name]; m != nil {
		return m.shape
	}
	if s.elem != nil {
		return s.elem
	}
	return freeForm
}

// spell writes a number as the server will: it keeps int64 and float64, so that the 1.0 of raw JSON comes back as 1, and
// text against text the same value would be sent every time.
func spell(number json.Number) json.Number {
	if i, err := number.Int64(); err == nil {
		if i == 0 {
			return "0" // it may have been -0
		}
		return number
	}
	f, err := number.Float64()
	if err != nil {
		return number
	}
	text, err := json.Marshal(f)
	if err != nil {
		return number
	}
	if string(text) == "-0" {
		return "0"
	}
	return json.Number(text)
}
