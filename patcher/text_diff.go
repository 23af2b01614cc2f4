package patcher

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// textDiff is what two objects differ in, as JSON; nil for an empty one.
type textDiff struct {
	base, status json.RawMessage
	changed      bool
	// kept: something of the base is on the server for sure.
	kept bool
}

// diff reports !ok where texts cannot decide. A base that is not valid is an object that is not there.
func (fs texts) diff(base, status reflect.Value) (d textDiff, ok bool) {
	for i := range fs {
		f := &fs[i]
		was, is := fieldOf(base, f.index), status.Field(f.index)
		if f.inner != nil {
			ok = f.addObject(&d, f.pointee(was), f.pointee(is))
		} else {
			ok = f.add(&d, was, is)
		}
		if !ok {
			return textDiff{}, false
		}
	}
	return d, len(fs) > 0
}

func (f *textField) add(d *textDiff, base, status reflect.Value) (ok bool) {
	was, ok1 := f.text(base)
	is, ok2 := f.text(status)
	if !ok1 || !ok2 {
		return false
	}
	same := bytes.Equal(was, is)
	d.changed = d.changed || !same
	if was != nil && f.required && (string(was) == "{}" || isEmpty(base)) {
		was = nil // perhaps not on the server yet, so it travels
	} else if same {
		d.kept = d.kept || was != nil
		return true
	}
	// What a merge patch replaces whole need not be in the base to be found different.
	if was != nil && (is == nil || f.object) {
		d.base = appendField(d.base, f.key, was)
	}
	if is != nil {
		d.status = appendField(d.status, f.key, is)
	}
	d.kept = d.kept || was != nil
	return true
}

// addObject adds an object with what differs inside it. One that is not valid is not there, or null where it must be.
func (f *textField) addObject(d *textDiff, base, status reflect.Value) (ok bool) {
	switch {
	case !status.IsValid() && f.required:
		return false
	case !status.IsValid():
		if base.IsValid() {
			d.base, d.changed, d.kept = appendField(d.base, f.key, emptyObject), true, true
		}
		return true
	}
	inner, ok := f.inner.diff(base, status)
	if !ok {
		return false
	}
	there := base.IsValid() && (inner.kept || !f.required)
	d.changed = d.changed || inner.changed || !base.IsValid()
	d.kept = d.kept || there
	if there && inner.base == nil && inner.status == nil {
		return true
	}
	if there {
		d.base = appendField(d.base, f.key, orEmpty(inner.base))
	}
	d.status = appendField(d.status, f.key, orEmpty(inner.status))
	return true
}

var emptyObject = json.RawMessage("{}")

func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return emptyObject
	}
	return object
}

func fieldOf(object reflect.Value, index int) reflect.Value {
	if !object.IsValid() {
		return object
	}
	return object.Field(index)
}

// pointee is the object in the field; one that is omitted is not valid.
func (f *textField) pointee(v reflect.Value) reflect.Value {
	switch {
	case v.Kind() == reflect.Pointer:
		return v.Elem()
	case v.IsValid() && f.omitZero && v.IsZero():
		return reflect.Value{}
	}
	return v
}

// text is the JSON of the field; nil when it is omitted. A null is not plain: a merge patch cannot store it.
func (f *textField) text(v reflect.Value) (text []byte, ok bool) {
	switch {
	case !v.IsValid():
		return nil, true
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
