package patcher

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A delta is what a write does to one member of an object on the server.
type delta struct {
	key string // as it stands in JSON, with quotes and colon
	// text is the new value. Without text and members, the member is removed.
	text json.RawMessage
	// members are what the write does inside an object that stays.
	members []delta
	object  bool
	// proved: the object exists on the server for sure. Of a struct that is zero the Go value cannot tell.
	proved bool
}

// deltas are those of one object.
type deltas struct {
	members []delta
	// changed: there is more than what must travel with any write.
	changed bool
	// kept: something of the base is on the server for sure.
	kept bool
}

func (d *deltas) add(m delta) { d.members = append(d.members, m) }

func (d *deltas) remove(key string) {
	d.add(delta{key: key})
	d.changed, d.kept = true, true
}

// members compares two objects. A base that is not valid is an object that does not exist. What skip reports as equal is
// compared only where something that must travel can be inside.
func (s *shape) diff(base, status reflect.Value, skip func(*member) bool) (d deltas, err error) {
	for i := range s.members {
		m := &s.members[i]
		was, is := m.of(base), m.of(status)
		if skip != nil && !m.shape.demanding && skip(m) {
			d.kept = d.kept || was.IsValid()
			continue
		}
		if err := m.diff(&d, was, is); err != nil {
			return d, err
		}
	}
	return d, nil
}

// of is the member's value in an object; not valid where encoding/json leaves it out.
func (m *member) of(object reflect.Value) reflect.Value {
	object = indirect(object)
	for n, i := range m.index {
		if n > 0 {
			object = indirect(object) // an embedded pointer
		}
		if !object.IsValid() {
			return object
		}
		object = object.Field(i)
	}
	if m.omitted != nil && m.omitted(object) {
		return reflect.Value{}
	}
	return object
}

// indirect follows pointers. Behind a nil there is no valid value.
func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// diff adds what a write does to the member. Values that are not valid are not in the JSON.
func (m *member) diff(d *deltas, was, is reflect.Value) error {
	b, s := indirect(was), indirect(is)
	if b.IsValid() && s.IsValid() {
		switch {
		case m.shape.kind == object:
			return m.diffObject(d, was.Kind() == reflect.Pointer, b, s)
		case m.shape.kind == dict && b.Len() > 0:
			return m.diffDict(d, b, s)
		}
	}
	return m.diffText(d, was, is)
}

func (m *member) diffObject(d *deltas, pointer bool, base, status reflect.Value) error {
	inner, err := m.shape.diff(base, status, nil)
	m.addObject(d, inner, pointer || inner.kept || !m.required)
	return err
}

func (m *member) addObject(d *deltas, inner deltas, proved bool) {
	d.changed = d.changed || inner.changed
	d.kept = d.kept || proved
	if !proved || len(inner.members) > 0 {
		d.add(delta{key: m.key, members: inner.members, object: true, proved: proved})
	}
}

// diffDict compares two maps, of which the base's is not empty, and so on the server.
func (m *member) diffDict(d *deltas, base, status reflect.Value) error {
	inner := deltas{kept: true}
	was, is := entriesOf(base), entriesOf(status)
	for _, name := range sortedKeys(was, is) {
		entry := member{key: keyText(name), shape: m.shape.elem}
		if err := entry.diff(&inner, was[name], is[name]); err != nil {
			return err
		}
	}
	m.addObject(d, inner, true)
	return nil
}

// entriesOf has the names as JSON has them: of keys that differ only in bytes that are not UTF-8 the last one wins.
func entriesOf(dict reflect.Value) map[string]reflect.Value {
	keys := dict.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	entries := make(map[string]reflect.Value, len(keys))
	for _, key := range keys {
		name := key.String()
		if !utf8.ValidString(name) {
			name = string([]rune(name))
		}
		entries[name] = dict.MapIndex(key)
	}
	return entries
}

func sortedKeys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func keyText(name string) string {
	key, _ := json.Marshal(name) // a string always marshals
	return string(key) + ":"
}

// diffText compares what is replaced whole, or has no Go type to look into.
func (m *member) diffText(d *deltas, was, is reflect.Value) error {
	if m.shape.same(was, is) && !(m.required && isZero(is)) {
		d.kept = d.kept || was.IsValid()
		return nil
	}
	old, text, err := m.texts(was, is)
	if err != nil {
		return err
	}
	old, text = orNone(old), orNone(text)
	same := bytes.Equal(old, text)
	if m.shape.kind == free && !same && isObject(old) && isObject(text) {
		return m.diffFree(d, old, text)
	}
	if !same && (bytes.Contains(old, nullText) || bytes.Contains(text, nullText)) {
		if old, text, err = withoutNulls(old, text); err != nil {
			return err
		}
		same = bytes.Equal(old, text)
	}
	d.changed = d.changed || !same
	if m.required && bytes.Equal(old, m.zero) {
		old = nil // perhaps not on the server yet, so it travels
	} else if same {
		d.kept = d.kept || old != nil
		return nil
	}
	d.kept = d.kept || old != nil
	switch {
	case text != nil:
		d.add(delta{key: m.key, text: text})
	case old != nil:
		d.add(delta{key: m.key})
	}
	return nil
}

// isZero reports whether the JSON of a value that same knows can be that of the zero value.
func isZero(v reflect.Value) bool {
	if isNilable(v.Kind()) {
		return v.Len() == 0
	}
	return v.IsValid() && v.IsZero()
}

// orNone makes a null nothing, which is what a merge patch makes of it.
func orNone(text []byte) []byte {
	if isNull(text) {
		return nil
	}
	return text
}

func isObject(text []byte) bool { return len(text) > 0 && text[0] == '{' }

// diffFree compares two objects of free-form JSON.
func (m *member) diffFree(d *deltas, old, text []byte) error {
	base, err := decodeTree(old)
	if err != nil {
		return err
	}
	status, err := decodeTree(text)
	if err != nil {
		return err
	}
	inner := deltas{kept: true}
	err = inner.addTrees(base.(map[string]any), status.(map[string]any))
	m.addObject(d, inner, true)
	return err
}

func (d *deltas) addTrees(base, status map[string]any) error {
	for _, name := range sortedKeys(base, status) {
		old, inBase := base[name]
		value, inStatus := status[name]
		b, isObject := old.(map[string]any)
		s, too := value.(map[string]any)
		switch {
		case isObject && too:
			inner := deltas{}
			if err := inner.addTrees(b, s); err != nil {
				return err
			}
			(&member{key: keyText(name)}).addObject(d, inner, true)
			continue
		case value == nil && inStatus && !inBase || value == nil && old == nil && inStatus:
			continue // null means delete to a merge patch
		case value == nil:
			d.remove(keyText(name))
			continue
		}
		dropNulls(old)
		dropNulls(value)
		if reflect.DeepEqual(old, value) {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		d.changed = true
		d.add(delta{key: keyText(name), text: text})
	}
	return nil
}

func withoutNulls(a, b []byte) ([]byte, []byte, error) {
	for _, text := range []*[]byte{&a, &b} {
		if *text == nil {
			continue
		}
		tree, err := decodeTree(*text)
		if err != nil {
			return nil, nil, err
		}
		dropNulls(tree)
		if *text, err = json.Marshal(tree); err != nil {
			return nil, nil, err
		}
	}
	return a, b, nil
}

// dropNulls drops them from the objects in lists too, as the server does.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			if v == nil {
				delete(value, key)
			} else {
				dropNulls(v)
			}
		}
	case []any:
		for _, v := range value {
			dropNulls(v)
		}
	}
}
