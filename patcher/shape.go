package patcher

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A shape describes the JSON of a Go type. It is the only description that the runtime has of a status: what is required,
// what is left out, what must be looked at inside, and what is replaced whole.
type shape struct {
	kind shapeKind
	// members are those of an object, in the order of the struct.
	members []member
	byName  map[string]*member
	// elem is the element of a list or a dict.
	elem *shape
	// exact: the text that encoding/json writes is the text that the API server stores, unless it has a null.
	exact bool
	// identity is the member that tells the entries of a list of such objects apart: the first string that is always there.
	identity *member
	// demanding: an object in it, at any level but inside a list, may have a required member. A list is sent whole or
	// not at all, so it is complete when it is sent.
	demanding bool
}

type shapeKind int

const (
	scalar shapeKind = iota // a string, a number, a bool, a time
	list
	dict   // a map whose keys are strings
	object // a struct
	free   // it marshals itself, or is an interface: its JSON may be anything
)

// A member is one member of an object.
type member struct {
	name  string
	key   string // the name as it stands in JSON, with quotes and colon
	index []int
	shape *shape
	// required: it is always in the JSON of the Go value, but perhaps not yet on the server, which refuses a status that
	// lacks a required one.
	required bool
	// nullable: no option leaves it out, so a null of it is part of the JSON, and a schema may require just that.
	nullable bool
	// mergeKey names the identity of the entries of a list, where the struct tag patchMergeKey does.
	mergeKey string
	// zero is the JSON of the zero value; nil where that is null. A nil list or map is sent as [] or {}.
	zero []byte
	// omitted reports whether encoding/json leaves the member out; nil for one that is always there.
	omitted func(reflect.Value) bool
	// quoted is a struct that has this one field, with the string option; nil without.
	quoted reflect.Type
}

var shapes sync.Map // reflect.Type to *shape

// shapeOf reads a type once.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	r := shapeReader{}
	s := r.read(t, true)
	r.settle()
	known, _ := shapes.LoadOrStore(t, s)
	return known.(*shape)
}

// shapeReader remembers the types that were read, since a type may be recursive.
type shapeReader map[place]*shape

// A place tells a value that can be addressed from one that cannot, such as a map's: encoding/json calls the methods of a
// pointer receiver only on the former.
type place struct {
	t           reflect.Type
	addressable bool
}

func (r shapeReader) read(t reflect.Type, addressable bool) *shape {
	if t.Kind() == reflect.Pointer && !t.Implements(marshaler) && !t.Implements(textMarshaler) {
		return r.read(t.Elem(), true)
	}
	at := place{t, addressable}
	if s, ok := r[at]; ok {
		return s
	}
	s := &shape{kind: free}
	r[at] = s
	switch {
	case plainTimes[t] || plainTimes[pointee(t)]:
		s.kind, s.exact = scalar, true
	case !marshalsItself(t, addressable):
		r.readInto(s, t, addressable)
	}
	return s
}

func (r shapeReader) readInto(s *shape, t reflect.Type, addressable bool) {
	switch t.Kind() {
	case reflect.String:
		s.kind, s.exact = scalar, t != reflect.TypeFor[json.Number]()
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32:
		s.kind, s.exact = scalar, true
	case reflect.Uint, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64:
		s.kind = scalar
	case reflect.Slice:
		if isBytes(t) {
			s.kind, s.exact = scalar, true
			return
		}
		s.kind, s.exact, s.elem = list, true, r.read(t.Elem(), true)
	case reflect.Array:
		s.kind, s.exact, s.elem = list, true, r.read(t.Elem(), addressable)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			s.kind, s.exact, s.elem = dict, true, r.read(t.Elem(), false)
		}
	case reflect.Struct:
		s.kind, s.exact, s.byName = object, true, map[string]*member{}
		for _, f := range jsonFields(t) {
			s.members = append(s.members, r.readMember(f, addressable))
		}
		for i := range s.members {
			m := &s.members[i]
			s.byName[m.name] = m
			if s.identity == nil && m.isIdentity(t) {
				s.identity = m
			}
		}
	}
}

func (r shapeReader) readMember(f jsonField, addressable bool) member {
	m := member{name: f.name, key: keyText(f.name), index: f.index, omitted: f.omitted(), mergeKey: f.mergeKey}
	m.nullable = !f.omitZero && !f.omitEmpty
	// omitempty says nothing of a struct, which is never empty.
	m.required = !f.omitZero && (!f.omitEmpty || f.t.Kind() == reflect.Struct || f.t.Kind() == reflect.Array && f.t.Len() > 0)
	if f.quoted {
		m.shape = &shape{kind: scalar, exact: true}
		m.quoted = reflect.StructOf([]reflect.StructField{{Name: "F", Type: f.t, Tag: `json:"f,string"`}})
	} else {
		m.shape = r.read(f.t, addressable)
	}
	return m
}

func (m *member) isIdentity(of reflect.Type) bool {
	return m.nullable && m.shape.kind == scalar && of.FieldByIndex(m.index).Type.Kind() == reflect.String
}

// settle derives what depends on other shapes, which may be recursive, and the zeros, which depend on that.
func (r shapeReader) settle() {
	for changed := true; changed; {
		changed = false
		for _, s := range r {
			changed = s.settle() || changed
		}
	}
	for at, s := range r {
		if s.kind != object {
			continue
		}
		for i := range s.members {
			m := &s.members[i]
			if m.required {
				m.zero = m.zeroText(at.t.FieldByIndex(m.index).Type)
			}
		}
	}
}

func (s *shape) settle() (changed bool) {
	exact, demanding := s.exact, s.demanding
	if s.elem != nil {
		s.exact = s.exact && s.elem.exact
		s.demanding = s.kind == dict && s.elem.demanding
	}
	for _, m := range s.members {
		s.exact = s.exact && m.shape.exact
		s.demanding = s.demanding || m.required || m.shape.demanding
	}
	return exact != s.exact || demanding != s.demanding
}

// zeroText makes [] and {} of a list and a map, whose nil is null.
func (m *member) zeroText(t reflect.Type) []byte {
	zero := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Slice:
		zero.Set(reflect.MakeSlice(t, 0, 0))
	case reflect.Map:
		zero.Set(reflect.MakeMap(t))
	}
	text, _, err := m.texts(zero, reflect.Value{})
	if err != nil {
		return nil
	}
	return orNone(text)
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func marshalsItself(t reflect.Type, addressable bool) bool {
	own := t.Implements(marshaler) || t.Implements(textMarshaler)
	if addressable && !own {
		p := reflect.PointerTo(t)
		return p.Implements(marshaler) || p.Implements(textMarshaler)
	}
	return own
}

// plainTimes marshal themselves, as a string that the API server keeps.
var plainTimes = map[reflect.Type]bool{
	reflect.TypeFor[metav1.Time]():      true,
	reflect.TypeFor[metav1.MicroTime](): true,
	reflect.TypeFor[metav1.Duration]():  true,
}

// isBytes: encoding/json writes them as one string.
func isBytes(t reflect.Type) bool {
	return t.Elem().Kind() == reflect.Uint8 && !marshalsItself(t.Elem(), true)
}

// omitted follows omitempty and omitzero.
func (f jsonField) omitted() func(reflect.Value) bool {
	switch {
	case f.omitZero && f.omitEmpty:
		zero := zeroOf(f.t)
		return func(v reflect.Value) bool { return isEmpty(v) || zero(v) }
	case f.omitZero:
		return zeroOf(f.t)
	case f.omitEmpty:
		return isEmpty
	}
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

type isZeroer interface{ IsZero() bool }

// zeroOf is what omitzero asks a value of the type: its own IsZero method, if there is one.
func zeroOf(t reflect.Type) func(reflect.Value) bool {
	own := reflect.TypeFor[isZeroer]()
	switch {
	case t.Implements(own) && (t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer):
		return func(v reflect.Value) bool {
			return v.IsNil() || v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() || v.Interface().(isZeroer).IsZero()
		}
	case t.Implements(own):
		return func(v reflect.Value) bool { return v.Interface().(isZeroer).IsZero() }
	case reflect.PointerTo(t).Implements(own):
		return func(v reflect.Value) bool {
			if !v.CanAddr() {
				copied := reflect.New(v.Type()).Elem()
				copied.Set(v)
				v = copied
			}
			return v.Addr().Interface().(isZeroer).IsZero()
		}
	}
	return reflect.Value.IsZero
}
