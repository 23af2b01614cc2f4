package patcher

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A onceField is a write-once field of a status: once it has a value, no write changes or removes that value while the parent
// of the field exists. The parent is the object that the nearest pointer above the field leads to, or else the status.
type onceField struct {
	path string
	// member is the field, and index leads to it from the status, through structs and pointers.
	member *member
	index  []int
	// counts tells that a pointer leads to a number or a bool, which then may be zero.
	counts bool
	// scope is index up to the parent: what is the same for two fields of one parent. It is empty if the parent is the status.
	scope []int
}

// onceFieldsOf resolves the paths that generated code names.
func onceFieldsOf(kind string, status reflect.Type, root *shape, paths []string) []onceField {
	fields := make([]onceField, len(paths))
	for i, path := range paths {
		f := onceField{path: path}
		s, at := root, status
		for _, name := range strings.Split(path, ".") {
			m := s.byName[name]
			if m == nil {
				panic(fmt.Sprintf("statuspatcher: the status of %s has no field %s: run statuspatcher-gen again", kind, path))
			}
			for _, n := range m.index {
				for at.Kind() == reflect.Pointer {
					at, f.scope = at.Elem(), slices.Clone(f.index)
				}
				at = at.Field(n).Type
				f.index = append(f.index, n)
			}
			f.member, s = m, m.shape
		}
		f.counts = at.Kind() == reflect.Pointer && at.Elem().Kind() != reflect.String && at.Elem().Kind() != reflect.Struct
		fields[i] = f
	}
	return fields
}

// in returns the field's value in a status, and whether its parent exists. The value is not valid if the parent does not.
func (f *onceField) in(status reflect.Value) (value reflect.Value, parent bool) {
	v := status
	for i, n := range f.index {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, i == 0 // a status that is a nil pointer is an empty one
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, true
}

// made returns the field in a status, in which its parents now exist.
func (f *onceField) made(status reflect.Value) reflect.Value {
	v := status
	for _, n := range f.index {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v
}

// hasValue reports whether a field has a value: a string that is not empty, a struct that is not zero, and of numbers and
// bools one that is not zero, or that a pointer leads to.
func hasValue(v reflect.Value) bool {
	if !v.IsValid() || v.IsZero() {
		return false
	}
	if v = indirect(v); v.Kind() == reflect.String || v.Kind() == reflect.Struct {
		return !v.IsZero()
	}
	return true
}

// accepts reports whether a value that Claim or Record is given is one.
func (f *onceField) accepts(value reflect.Value) bool { return f.counts || hasValue(value) }

// same reports whether two values of the field have the same JSON.
func (f *onceField) same(a, b reflect.Value) bool {
	a, b = indirect(a), indirect(b)
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if f.member.shape.same(a, b) {
		return true
	}
	was, is, err := f.member.texts(a, b)
	return err == nil && bytes.Equal(was, is)
}

// text shows a value in errors: a string as it is, and anything else as JSON.
func (f *onceField) text(v reflect.Value) string {
	switch v = indirect(v); {
	case !v.IsValid():
		return ""
	case v.Kind() == reflect.String:
		return v.String()
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return string(text)
}

// checkContracts is an error for a write that a contract of the kind forbids. Kinds without contracts pay for two comparisons.
func (c *Client[T, S]) checkContracts(key client.ObjectKey, base *S, d *change[S], rewrites []string) error {
	if c.owner != nil {
		if err := c.checkOwned(key, base, &d.sent); err != nil {
			return err
		}
	}
	return c.checkWriteOnce(key, base, &d.sent, rewrites)
}

// checkWriteOnce is an error if a write that turns base into status would change or remove a value that is written once.
func (c *Client[T, S]) checkWriteOnce(key client.ObjectKey, base, status *S, allowed []string) error {
	fields := c.kind.onceFields
	if len(fields) == 0 && len(allowed) == 0 {
		return nil
	}
	if err := c.checkAllowed(key, allowed); err != nil {
		return err
	}
	was, is := reflect.ValueOf(base).Elem(), reflect.ValueOf(status).Elem()
	for i := range fields {
		f := &fields[i]
		old, _ := f.in(was)
		if !hasValue(old) || slices.Contains(allowed, f.path) {
			continue
		}
		now, parent := f.in(is)
		if parent && (!hasValue(now) || !f.same(old, now)) {
			return c.writeOnceError(key, f, old, now)
		}
	}
	return nil
}

func (c *Client[T, S]) writeOnceError(key client.ObjectKey, f *onceField, old, now reflect.Value) *WriteOnceError {
	return &WriteOnceError{Kind: c.kind.Name, Key: key, Path: f.path, Old: f.text(old), New: f.text(now)}
}

// checkAllowed is an error for a path of AllowRewrite that leads to no write-once field.
func (c *Client[T, S]) checkAllowed(key client.ObjectKey, paths []string) error {
	for _, path := range paths {
		if !slices.Contains(c.kind.WriteOnce, path) {
			return fmt.Errorf("%s: AllowRewrite(%q): the kind has no such write-once field: it has %q", c.describe(key), path, c.kind.WriteOnce)
		}
	}
	return nil
}

// onceField finds a field by its path. Generated code names no other.
func (c *Client[T, S]) onceField(path string) *onceField {
	i := slices.IndexFunc(c.kind.onceFields, func(f onceField) bool { return f.path == path })
	if i < 0 {
		panic(fmt.Sprintf("statuspatcher: %s has no write-once field %s: run statuspatcher-gen again", c.kind.Name, path))
	}
	return &c.kind.onceFields[i]
}

// set gives the field a value, which is that of a pointer if the field is one.
func (f *onceField) set(status reflect.Value, value reflect.Value) {
	field := f.made(status)
	if field.Kind() == reflect.Pointer {
		p := reflect.New(field.Type().Elem())
		p.Elem().Set(value)
		value = p
	}
	field.Set(value)
}

// adopt gives dst the field's value in src, with the parents that dst lacks. It takes over memory of src.
func (f *onceField) adopt(dst, src reflect.Value) {
	for _, n := range f.index {
		for dst.Kind() == reflect.Pointer {
			if dst.IsNil() {
				dst.Set(src)
				return
			}
			dst, src = dst.Elem(), src.Elem()
		}
		dst, src = dst.Field(n), src.Field(n)
	}
	dst.Set(src)
}
