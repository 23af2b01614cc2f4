package generator

import (
	"fmt"
	"go/types"
	"strings"
)

// An equalFunc is a generated function that compares two structs field by field.
type equalFunc struct {
	Name, Type string
	// Shape is the name of the struct type that asserts the fields. A compile error shows it, so it says what to do.
	Shape string
	// Terms are the comparisons, all of which must hold.
	Terms []string
	// Fields are the struct's fields as they are spelt in the assertion of its shape.
	Fields []string
}

// How values of a type are compared.
type way int

const (
	// strictly is ==, for types in which it means equal JSON.
	strictly way = iota
	// bitwise is for floats, of which 0 and -0 are == and have different JSON.
	bitwise
	// byTime is for metav1.Time.
	byTime
	// byCondition is for metav1.Condition, which has a metav1.Time.
	byCondition
	// byParts goes through a pointer, slice, map or array.
	byParts
	// byFields calls a generated function, whose struct type is asserted to have the fields that it compares.
	byFields
	// deeply is reflect.DeepEqual: for all that cannot be named, and all that another module may change.
	deeply
)

// A comparer chooses how the types of one generated file are compared.
type comparer struct {
	imports *imports
	// own tells whether a package is of the same module as the kind, so that its types change together with it.
	own func(*types.Package) bool
	// marshals tells whether a type declares MarshalJSON.
	marshals func(*types.TypeName) bool
	// importable tells whether the generated file may import a package.
	importable func(*types.Package) bool
	// local is the path of the package that the file belongs to.
	local string
	// names are the identifiers of the file.
	names *names
	// funcs are the functions that are called, in the order of their first use.
	funcs  []*equalFunc
	byType map[*types.TypeName]*equalFunc
	// visiting are the named types that the choice is going through: recursion that no struct interrupts is left to reflection.
	visiting map[*types.TypeName]bool
}

// way chooses.
func (c *comparer) way(t types.Type) way {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok {
		return c.wayOfNamed(named)
	}
	switch t := t.(type) {
	case *types.Basic:
		if t.Info()&types.IsFloat != 0 {
			return bitwise
		}
	case *types.Pointer:
		return c.parts(t.Elem())
	case *types.Slice:
		return c.parts(t.Elem())
	case *types.Map:
		if strict(t.Key()) {
			return c.parts(t.Elem())
		}
		return deeply
	case *types.Array:
		if !strict(t) {
			return c.parts(t.Elem())
		}
	}
	if strict(t) {
		return strictly
	}
	return deeply
}

func (c *comparer) wayOfNamed(named *types.Named) way {
	obj := named.Obj()
	switch {
	case isMeta(obj, "Time"):
		return byTime
	case isCondition(named):
		return byCondition
	case strict(named) && !(c.ours(named) && hasTime(named)):
		return strictly
	case !c.ours(named), c.visiting[obj]:
		return deeply
	}
	if structure, ok := named.Underlying().(*types.Struct); ok {
		if c.nameable(named) && c.assertable(structure) {
			return byFields
		}
		return deeply
	}
	c.visiting[obj] = true
	defer delete(c.visiting, obj)
	return c.way(named.Underlying())
}

// ours reports whether the fields of a named type change together with the kind only.
func (c *comparer) ours(named *types.Named) bool {
	obj := named.Obj()
	return obj.Pkg() != nil && named.TypeArgs().Len() == 0 && c.own(obj.Pkg())
}

// hasTime reports whether a struct has a metav1.Time, of which == compares more than its JSON has: the fraction of the
// second, and the zone.
func hasTime(t types.Type) bool {
	if named, ok := types.Unalias(t).(*types.Named); ok && isMeta(named.Obj(), "Time") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			if hasTime(field.Type()) {
				return true
			}
		}
	case *types.Array:
		return hasTime(u.Elem())
	}
	return false
}

// parts is the way of a type made of elements: as a whole by reflection when its elements are.
func (c *comparer) parts(element types.Type) way {
	switch c.way(element) {
	case deeply:
		return deeply
	case byParts:
		if !c.nameable(element) { // the comparison is a func literal, which spells the type
			return deeply
		}
	}
	return byParts
}

// strict tells whether == on values of t means the same JSON, and whether copies are ==: no floats, no pointers but those
// of a time zone, nothing that hides them.
func strict(t types.Type) bool {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok {
		obj := named.Obj()
		if isMeta(obj, "Time") || isMeta(obj, "MicroTime") || obj.Name() == "Time" && obj.Pkg() != nil && obj.Pkg().Path() == "time" {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsInteger|types.IsString) != 0
	case *types.Struct:
		for field := range u.Fields() {
			if !strict(field.Type()) {
				return false
			}
		}
		return true
	case *types.Array:
		return strict(u.Elem())
	}
	return false
}

// assertable tells whether the shape of a struct can be written down in the generated file.
func (c *comparer) assertable(s *types.Struct) bool {
	for field := range s.Fields() {
		if !field.Exported() || !c.nameable(field.Type()) {
			return false
		}
	}
	return true
}

// nameable tells whether the generated file can spell a type.
func (c *comparer) nameable(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() != types.Invalid
	case *types.Alias:
		return c.visible(t.Obj())
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if !c.nameable(arg) {
				return false
			}
		}
		return c.visible(t.Obj())
	case *types.Pointer:
		return c.nameable(t.Elem())
	case *types.Slice:
		return c.nameable(t.Elem())
	case *types.Array:
		return c.nameable(t.Elem())
	case *types.Map:
		return c.nameable(t.Key()) && c.nameable(t.Elem())
	case *types.Struct:
		return c.assertable(t)
	case *types.Interface:
		return t.Empty()
	}
	return false
}

func (c *comparer) visible(obj *types.TypeName) bool {
	pkg := obj.Pkg()
	switch {
	case pkg == nil: // predeclared
		return true
	case obj.Parent() != pkg.Scope():
		return false
	case pkg.Path() == c.local:
		return true
	}
	return obj.Exported() && c.importable(pkg)
}

// term compares the addressable expressions a and b of type t.
func (c *comparer) term(t types.Type, a, b string) string {
	switch c.way(t) {
	case strictly:
		return fmt.Sprintf("%s == %s", a, b)
	case bitwise:
		return fmt.Sprintf("patcher.EqualFloat(%s, %s)", address(a), address(b))
	case byTime:
		return fmt.Sprintf("patcher.EqualTime(%s, %s)", address(a), address(b))
	case byCondition:
		return fmt.Sprintf("patcher.EqualCondition(%s, %s)", address(a), address(b))
	case byFields:
		return fmt.Sprintf("%s(%s, %s)", c.function(types.Unalias(t).(*types.Named)), address(a), address(b))
	case byParts:
		return c.partsTerm(t, a, b)
	}
	return fmt.Sprintf("patcher.EqualDeep(%s, %s)", address(a), address(b))
}

// address is &expr, for which a dereferenced expression has a shorter form.
func address(expr string) string {
	if pointer, ok := strings.CutPrefix(expr, "*"); ok {
		return pointer
	}
	return "&" + expr
}

func (c *comparer) partsTerm(t types.Type, a, b string) string {
	var container string
	var element types.Type
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		container, element = "Pointer", u.Elem()
	case *types.Slice:
		container, element = "Slice", u.Elem()
	case *types.Map:
		container, element = "Map", u.Elem()
	case *types.Array:
		container, element = "Slice", u.Elem()
		a, b = sliced(a), sliced(b)
	}
	if c.way(element) == strictly {
		return fmt.Sprintf("patcher.Equal%s(%s, %s)", container, a, b)
	}
	return fmt.Sprintf("patcher.Equal%sFunc(%s, %s, %s)", container, a, b, c.value(element))
}

func sliced(expr string) string {
	if strings.HasPrefix(expr, "*") {
		expr = "(" + expr + ")"
	}
	return expr + "[:]"
}

func isCondition(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && isMeta(named.Obj(), "Condition")
}

// value is a function of type func(a, b *T) bool.
func (c *comparer) value(t types.Type) string {
	switch way := c.way(t); {
	case way == byCondition:
		return "patcher.EqualCondition"
	case way == byTime:
		return "patcher.EqualTime"
	case way == bitwise:
		return "patcher.EqualFloat"
	case way == byFields:
		return c.function(types.Unalias(t).(*types.Named))
	}
	return fmt.Sprintf("func(a, b *%s) bool { return %s }", c.imports.spell(t), c.term(t, "*a", "*b"))
}

// function is the name of the generated function that compares a struct type.
func (c *comparer) function(named *types.Named) string {
	obj := named.Obj()
	if f := c.byType[obj]; f != nil {
		return f.Name
	}
	f := &equalFunc{Type: c.imports.typeName(obj)}
	f.Name = c.names.unexported("equal" + upperFirst(obj.Name()))
	f.Shape = c.names.unexported("runStatuspatcherGenFor" + upperFirst(obj.Name()))
	c.byType[obj] = f
	c.funcs = append(c.funcs, f)
	structure := named.Underlying().(*types.Struct)
	for i := range structure.NumFields() {
		field := structure.Field(i)
		f.Terms = append(f.Terms, c.term(field.Type(), "a."+field.Name(), "b."+field.Name()))
		f.Fields = append(f.Fields, c.spellField(field, structure.Tag(i)))
	}
	return f.Name
}

func (c *comparer) spellField(field *types.Var, tag string) string {
	out := c.imports.spell(field.Type())
	if !field.Embedded() {
		out = field.Name() + " " + out
	}
	switch {
	case tag == "":
	case strings.ContainsAny(tag, "`\n\r"):
		out += fmt.Sprintf(" %q", tag)
	default:
		out += " `" + tag + "`"
	}
	return out
}

// trims are the fields of a status that Trim may clear: with the value that clears them they have no JSON. A type that writes its
// JSON itself has none, since its fields may say something together.
func (c *comparer) trims(named *types.Named) []trim {
	status, ok := named.Underlying().(*types.Struct)
	if !ok || c.writesJSON(named) {
		return nil
	}
	var out []trim
	for i := range status.NumFields() {
		field, tag := status.Field(i), jsonTag(status.Tag(i))
		if field.Embedded() || tag.forgotten || !field.Exported() {
			continue
		}
		if tag.omitZero || tag.omitEmpty && emptiable(field.Type()) {
			out = append(out, trim{Field: field.Name(), Equal: c.term(field.Type(), "base."+field.Name(), "status."+field.Name())})
		}
	}
	return out
}

// writesJSON tells whether a type has MarshalJSON, of its own or of a type that it embeds.
func (c *comparer) writesJSON(t types.Type) bool {
	named, ok := types.Unalias(deref(t)).(*types.Named)
	if !ok {
		return false
	}
	if c.marshals(named.Obj()) {
		return true
	}
	structure, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range structure.Fields() {
		if field.Embedded() && c.writesJSON(field.Type()) {
			return true
		}
	}
	return false
}

// A trim is one field that Trim may clear.
type trim struct{ Field, Equal string }

// emptiable tells of which kinds encoding/json leaves out the zero value under omitempty.
func emptiable(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return false
	}
	return true
}
