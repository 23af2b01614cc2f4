package generator

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A onceField is a write-once field of a status.
type onceField struct {
	pos token.Pos // of the marker
	// path is of JSON names, as in plan.id, and method what its methods are called after, as in PlanID.
	path, method string
	// value is the type of the field, or what it points to.
	value types.Type
	// in is the type that declares it.
	in *types.Named
}

// A onceFinder walks through a status, and finds the fields that are marked.
type onceFinder struct {
	*resolver
	kind  kind
	found []onceField
	// visiting are the types on the way to here, and recursive those that contain themselves.
	visiting  []*types.Named
	recursive map[*types.Named]bool
}

// A place is where in a status the walk is.
type oncePlace struct {
	json, names []string
	// inside is the list or map that the place is in, which has no fixed path.
	inside string
	// part is the write-once field that the place is a part of.
	part string
}

func (p oncePlace) field(json, name string) oncePlace {
	p.json, p.names = append(slices.Clone(p.json), json), append(slices.Clone(p.names), name)
	return p
}

func (p oncePlace) path() string { return strings.Join(p.json, ".") }

// onceFields are the write-once fields of a kind, in the order of the status.
func (r *resolver) onceFields(k kind) []onceField {
	if len(r.once) == 0 {
		return nil
	}
	f := &onceFinder{resolver: r, kind: k, recursive: map[*types.Named]bool{}}
	f.walk(k.status.Type(), oncePlace{})
	methods := map[string]string{}
	var out []onceField
	for _, field := range f.found {
		at := r.fset.Position(field.pos)
		switch {
		case f.recursive[field.in]:
			r.faults.at(at, "%s cannot be write-once, since its type %s contains itself, so the field has no fixed path: move the field to a type that does not", field.path, field.in.Obj().Name())
		case methods[field.method] == field.path:
			r.faults.at(at, "the status of %s has two fields with the path %s: rename one of them", k.obj.Name(), field.path)
		case methods[field.method] != "":
			r.faults.at(at, "the write-once fields %s and %s of %s would both have the method Claim%s: rename one of them", methods[field.method], field.path, k.obj.Name(), field.method)
		default:
			methods[field.method] = field.path
			out = append(out, field)
		}
	}
	return out
}

// walk goes through a type, and what it is made of.
func (f *onceFinder) walk(t types.Type, at oncePlace) {
	t = types.Unalias(t)
	for {
		p, ok := t.(*types.Pointer)
		if !ok {
			break
		}
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	if named != nil {
		if i := slices.Index(f.visiting, named); i >= 0 {
			for _, n := range f.visiting[i:] {
				f.recursive[n] = f.recursive[n] || at.inside == ""
			}
			return
		}
		if f.marshalsItself(named.Obj()) {
			return // its JSON is not made of its fields
		}
		f.visiting = append(f.visiting, named)
		defer func() { f.visiting = f.visiting[:len(f.visiting)-1] }()
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			f.field(named, u.Field(i), jsonTag(u.Tag(i)), at)
		}
	case *types.Slice:
		f.walk(u.Elem(), at.in("list"))
	case *types.Array:
		f.walk(u.Elem(), at.in("list"))
	case *types.Map:
		f.walk(u.Elem(), at.in("map"))
	}
}

func (p oncePlace) in(what string) oncePlace {
	if p.inside == "" {
		p.inside = fmt.Sprintf("the %s %s", what, p.path())
	}
	return p
}

func (f *onceFinder) marshalsItself(obj *types.TypeName) bool {
	s := (*source)(nil)
	if obj.Pkg() != nil {
		s = f.prune.byPath(obj.Pkg().Path())
	}
	return s != nil && s.methods[method{obj.Name(), "MarshalJSON"}] != nil
}

func (f *onceFinder) field(in *types.Named, field *types.Var, tag tag, at oncePlace) {
	mark := f.once[field.Pos()]
	if field.Embedded() && tag.name == "" && !tag.forgotten {
		if mark != nil && !mark.used {
			f.faultOnce(mark, "the fields of %s, which is embedded, are fields of the status themselves: move the marker above each of them", field.Name())
		}
		f.walk(field.Type(), at)
		return
	}
	name := tag.name
	if name == "" {
		name = field.Name()
	}
	here := at.field(name, field.Name())
	if mark != nil {
		f.marked(in, field, tag, mark, here)
		here.part = here.path()
	}
	if !tag.forgotten && field.Exported() {
		f.walk(field.Type(), here)
	}
}

// marked takes a field that has the marker, or says why it cannot be write-once.
func (f *onceFinder) marked(in *types.Named, field *types.Var, tag tag, mark *onceMark, at oncePlace) {
	value := deref(field.Type())
	switch {
	case at.inside != "":
		if mark.inside == "" {
			mark.inside = at.inside + " of " + f.kind.obj.Name()
		}
	case tag.forgotten || !field.Exported():
		f.faultOnce(mark, "%s is not in the JSON of the status, so it cannot be write-once: export it under a JSON name, or remove the marker", field.Name())
	case at.part != "":
		f.faultOnce(mark, "%s is a part of the write-once field %s already: remove one of the two markers", at.path(), at.part)
	default:
		if fault := unsuitable(value); fault != "" {
			f.faultOnce(mark, "%s %s, so it cannot be write-once: the value must be a string, a whole number, a bool, or a struct with a name, or a pointer to one of these", at.path(), fault)
			return
		}
		mark.used = true
		f.found = append(f.found, onceField{pos: mark.pos, path: at.path(), method: strings.Join(at.names, ""), value: value, in: in})
	}
}

func (f *onceFinder) faultOnce(mark *onceMark, format string, args ...any) {
	mark.used = true
	f.faults.at(f.fset.Position(mark.pos), format, args...)
}

// unsuitable says why values of a type cannot be identities.
func unsuitable(t types.Type) string {
	t = types.Unalias(t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&(types.IsString|types.IsInteger|types.IsBoolean) != 0 {
			return ""
		}
		return "has the type " + u.Name()
	case *types.Struct:
		if _, named := t.(*types.Named); named {
			return ""
		}
		return "is a struct without a name"
	case *types.Slice, *types.Array:
		return "is a list"
	case *types.Map:
		return "is a map"
	case *types.Pointer:
		return "is a pointer to a pointer"
	case *types.Interface:
		return "is an interface"
	}
	return "has the type " + t.String()
}

// unusedOnce reports markers that protect nothing.
func (r *resolver) unusedOnce() {
	for _, mark := range r.once {
		at := r.fset.Position(mark.pos)
		switch {
		case mark.used:
		case mark.inside != "":
			r.faults.at(at, "+%s has no effect inside %s: the entries of lists and maps come and go, and have no fixed path; move the identity to a field of the status itself, or remove the marker", writeOnceMarker, mark.inside)
		case mark.scanned:
			r.faults.at(at, "+%s has no effect here: the field is not in the status of any marked kind of this run; mark the kind, or remove the marker", writeOnceMarker)
		}
	}
}
