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

// diff adds to d what a write does to turn the base into the status. A base that is not valid is an object that does not
// exist. A member that skip reports as equal is compared only where something that must travel can be inside.
func (s *shape) diff(d *deltas, base, status reflect.Value, skip func(*member) bool) error {
	for i := range s.members {
		m := &s.members[i]
		was, is := m.of(base), m.of(status)
		if skip != nil && !m.shape.demanding && skip(m) {
			d.kept = d.kept || was.IsValid()
			continue
		}
		if err := m.diff(d, was, is); err != nil {
			return err
		}
	}
	return nil
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
			return m.diffObject(d, was, is)
		case m.shape.kind == dict && b.Len() > 0:
			return m.diffDict(d, b, s)
		case m.shape.kind == list && d.keys[m] != nil && b.Len() > 0 && s.Len() > 0:
			if done, err := m.diffKeyed(d, d.keys[m], b, s); done || err != nil {
				return err
			}
		case m.shape.kind == list && d.byEntry && b.Len() > 0 && s.Len() > 0:
			if done, err := m.diffEntries(d, b, s); done || err != nil {
				return err
			}
		}
	}
	return m.diffText(d, was, is)
}

func (m *member) diffObject(d *deltas, was, is reflect.Value) error {
	inner := deltas{walk: d.walk}
	if err := m.shape.diff(&inner, indirect(was), indirect(is), nil); err != nil {
		return err
	}
	proved := inner.kept || !m.required || was.Kind() == reflect.Pointer
	if d.settled && !proved {
		return m.diffText(d, was, is) // inner lacks the zeros
	}
	d.addObject(delta{key: m.key, proved: proved}, inner)
	return nil
}

// diffDict compares two maps, of which the base's is not empty, and so on the server.
func (m *member) diffDict(d *deltas, base, status reflect.Value) error {
	inner := deltas{walk: d.walk}
	was, is := entriesOf(base), entriesOf(status)
	for _, name := range sortedKeys(was, is) {
		entry := member{key: keyText(name), shape: m.shape.elem}
		if err := entry.diff(&inner, was[name], is[name]); err != nil {
			return err
		}
	}
	d.addObject(delta{key: m.key, proved: true, member: m, value: status}, inner)
	return nil
}

// entriesOf has the names as JSON has them: of keys that differ only in bytes that are not UTF-8 the last one wins.
func entriesOf(dict reflect.Value) map[string]reflect.Value {
	keys := dict.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	entries := make(map[string]reflect.Value, len(keys))
	for _, key := range keys {
		entries[asStored(key.String())] = dict.MapIndex(key)
	}
	return entries
}

// asStored is the text as the server has it: U+FFFD for each byte that is not UTF-8.
func asStored(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

func sortedKeys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func keyText(name string) string {
	return string(quote(name)) + ":"
}

// diffText compares what is replaced whole, or has no Go type to look into.
func (m *member) diffText(d *deltas, was, is reflect.Value) error {
	if m.shape.same(was, is) && (d.settled || !m.required || !isZero(is)) {
		d.kept = d.kept || was.IsValid()
		return nil
	}
	old, text, err := m.texts(was, is)
	if err != nil {
		return err
	}
	if !m.nullable {
		old, text = orNone(old), orNone(text)
	}
	same := bytes.Equal(old, text)
	if m.shape.kind == free && !same && isObject(old) && isObject(text) {
		return m.diffFree(d, is, old, text)
	}
	d.changed = d.changed || !same
	// A zero is perhaps not on the server yet, so it travels.
	known := old != nil && !isNull(old) && !(m.required && bytes.Equal(old, m.zero)) || d.settled
	d.kept = d.kept || known
	switch {
	case same && known:
	case text != nil:
		d.addText(m.key, text, same)
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

// orNone makes a null nothing: the Go type reads both alike, and the option in its tag says that it may be left out.
func orNone(text []byte) []byte {
	if isNull(text) {
		return nil
	}
	return text
}

func isObject(text []byte) bool { return len(text) > 0 && text[0] == '{' }

// diffFree compares two objects of free-form JSON, of which old is on the server.
func (m *member) diffFree(d *deltas, value reflect.Value, old, text []byte) error {
	base, err := decodeTree(old)
	if err != nil {
		return err
	}
	status, err := decodeTree(text)
	if err != nil {
		return err
	}
	var inner deltas
	if err := inner.diffTrees(base.(map[string]any), status.(map[string]any)); err != nil {
		return err
	}
	d.addObject(delta{key: m.key, proved: true, member: m, value: value}, inner)
	return nil
}

func (d *deltas) diffTrees(base, status map[string]any) error {
	for _, name := range sortedKeys(base, status) {
		old, inBase := base[name]
		value, inStatus := status[name]
		b, isObject := old.(map[string]any)
		s, too := value.(map[string]any)
		switch {
		case isObject && too:
			var inner deltas
			if err := inner.diffTrees(b, s); err != nil {
				return err
			}
			d.addObject(delta{key: keyText(name), proved: true}, inner)
		case !inStatus:
			d.changed = true
			d.add(delta{key: keyText(name)})
		case !inBase || !reflect.DeepEqual(old, value):
			text, err := json.Marshal(value)
			if err != nil {
				return err
			}
			d.changed = true
			d.addText(keyText(name), text, false)
		}
	}
	return nil
}
