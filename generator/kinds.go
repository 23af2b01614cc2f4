package generator

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

// A kind is a type that a patcher can be generated for.
type kind struct {
	obj *types.TypeName
	// status is the type that the Status field has, or points to.
	status *types.TypeName
	// pointer tells that the field is a pointer.
	pointer            bool
	clusterScoped      bool
	conditions         bool
	observedGeneration bool
	// namedConditions tells that the conditions are of a named slice type.
	namedConditions bool
	// writeOnce are the write-once fields of the status.
	writeOnce []onceField
	// owners are those that the markers of the kind declare.
	owners []ownerDecl
}

// A resolver turns what is asked for into kinds, or says why it cannot be.
type resolver struct {
	fset   *token.FileSet
	faults *faults
	prune  *pruner
	// once are the markers of write-once fields.
	once map[token.Pos]*onceMark
}

// resolve checks one kind. The order of the checks is that in which a reader would mend them.
func (r *resolver) resolve(w wanted) (kind, bool) {
	obj, _ := w.pkg.Types.Scope().Lookup(w.name).(*types.TypeName)
	if obj == nil {
		return kind{}, false // the type checker has said why
	}
	k := kind{obj: obj}
	pos := r.fset.Position(obj.Pos())
	s := r.prune.source(w.pkg)
	marks := s.lines(w.name)
	k.clusterScoped = clusterScoped(marks)
	structure, isStruct := obj.Type().Underlying().(*types.Struct)
	switch {
	case isStruct && unknownEmbedded(structure):
		return kind{}, false // the type checker has said why
	case obj.IsAlias():
		r.faults.at(pos, "%s is an alias of %s, and a kind must be a type of its own: %s", w.name, types.Unalias(obj.Type()), w.move(types.Unalias(obj.Type()).String()))
	case obj.Type().(*types.Named).TypeParams().Len() > 0:
		r.faults.at(pos, "%s has type parameters, which a kind cannot have: %s", w.name, w.drop())
	case !isStruct:
		r.faults.at(pos, "%s is not a struct, so it is not a kind: %s", w.name, w.drop())
	case !ast.IsExported(w.name):
		r.faults.at(pos, "%s is not exported, but a kind must be: %s", w.name, w.cure("start its name with a capital letter"))
	case w.pkg.Name == "main":
		r.faults.at(pos, "%s is in package main, which no other package can import: %s", w.name, w.cure("move it to a package of its own"))
	case embeds(structure, "ListMeta"):
		r.faults.at(pos, "%s is the list type of a kind and has no status: %s", w.name, w.move("the kind that it lists"))
	case !embeds(structure, "ObjectMeta") && !embeds(structure, "TypeMeta"):
		r.faults.at(pos, "%s embeds neither metav1.TypeMeta nor metav1.ObjectMeta, so it is not a kind: %s", w.name, w.cure(w.drop()+"; if it should be a kind, add the fields metav1.TypeMeta `json:\",inline\"` and metav1.ObjectMeta `json:\"metadata,omitempty\"`"))
	case !embeds(structure, "ObjectMeta"):
		r.faults.at(pos, "%s does not embed metav1.ObjectMeta: %s", w.name, w.cure("add the field metav1.ObjectMeta `json:\"metadata,omitempty\"`, or "+w.drop()))
	case !embeds(structure, "TypeMeta"):
		r.faults.at(pos, "%s does not embed metav1.TypeMeta: %s", w.name, w.cure("add the field metav1.TypeMeta `json:\",inline\"`, or "+w.drop()))
	case w.markable && !has(marks, "kubebuilder:subresource:status"):
		r.faults.at(pos, "%s has no status subresource, so the API server would reject every write of its status: add // +kubebuilder:subresource:status above it, and regenerate the CRD", w.name)
	case !s.promises(method{w.name, "DeepCopyObject"}):
		r.faults.at(pos, "%s has no DeepCopyObject, so it is not a runtime.Object: %s", w.name, w.cure("add // +kubebuilder:object:root=true above it, and run controller-gen object"))
	default:
		ok := r.callable(w, obj, "DeepCopyObject") && r.status(w, &k, pos)
		if ok {
			k.writeOnce = r.onceFields(k)
			k.owners = r.owners(k, s.lines(w.name))
		}
		return k, ok
	}
	return kind{}, false
}

func clusterScoped(marks []line) bool {
	for _, l := range marks {
		if strings.HasPrefix(l.text, "+kubebuilder:resource") && strings.Contains(strings.ReplaceAll(l.text, `"`, ""), "scope=Cluster") ||
			l.text == "+genclient:nonNamespaced" {
			return true
		}
	}
	return false
}

// embeds tells whether a struct has the methods of metav1.TypeMeta or metav1.ObjectMeta by embedding it, at any depth.
func embeds(s *types.Struct, name string) bool {
	for field := range s.Fields() {
		if !field.Embedded() {
			continue
		}
		named, ok := types.Unalias(deref(field.Type())).(*types.Named)
		if !ok {
			continue
		}
		if isMeta(named.Obj(), name) {
			return true
		}
		if inner, ok := named.Underlying().(*types.Struct); ok && embeds(inner, name) {
			return true
		}
	}
	return false
}

// unknownEmbedded tells whether a struct embeds a type that could not be loaded: then nobody knows what it has.
func unknownEmbedded(s *types.Struct) bool {
	for field := range s.Fields() {
		if field.Embedded() && types.Unalias(deref(field.Type())) == types.Typ[types.Invalid] {
			return true
		}
	}
	return false
}

func isMeta(obj *types.TypeName, name string) bool {
	return obj.Name() == name && obj.Pkg() != nil && obj.Pkg().Path() == metaPath
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// embeddedStatus is the embedded field of a kind that has the JSON name of the status.
func embeddedStatus(obj *types.TypeName) *types.Var {
	structure, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i := range structure.NumFields() {
		name, _, _ := strings.Cut(reflect.StructTag(structure.Tag(i)).Get("json"), ",")
		if structure.Field(i).Embedded() && name == "status" {
			return structure.Field(i)
		}
	}
	return nil
}

// status checks the Status field of a kind and its type.
func (r *resolver) status(w wanted, k *kind, pos token.Position) bool {
	name := k.obj.Name()
	field, index, _ := types.LookupFieldOrMethod(k.obj.Type(), true, k.obj.Pkg(), "Status")
	status, ok := field.(*types.Var)
	if embedded := embeddedStatus(k.obj); !ok && embedded != nil {
		r.faults.at(r.fset.Position(embedded.Pos()), "%s embeds its status, and has no field of the name Status: %s", name, w.cure("write Status "+embedded.Name()+" `json:\"status,omitempty\"`, or "+w.drop()))
		return false
	}
	if !ok {
		r.faults.at(pos, "%s has no Status field: %s", name, w.cure("add Status "+name+"Status `json:\"status,omitempty\"`, or "+w.drop()))
		return false
	}
	if fault, cure := reach(k.obj.Type(), index); fault != "" {
		r.faults.at(r.fset.Position(status.Pos()), "%s: %s: %s", name, fault, w.cure(cure))
		return false
	}
	pos = r.fset.Position(status.Pos())
	_, k.pointer = types.Unalias(status.Type()).(*types.Pointer)
	named, ok := types.Unalias(deref(status.Type())).(*types.Named)
	switch {
	case types.Unalias(deref(status.Type())) == types.Typ[types.Invalid]:
		return false // the type checker has said why
	case ok && types.IsInterface(named):
		r.faults.at(pos, "the Status of %s has the interface type %s, which JSON cannot be decoded into: %s", name, named.Obj().Name(), w.cure("use a struct type that has DeepCopyInto"))
		return false
	case !ok:
		r.faults.at(pos, "the Status of %s has the unnamed type %s: %s", name, types.TypeString(status.Type(), types.RelativeTo(k.obj.Pkg())), w.cure("declare a type "+name+"Status with DeepCopy, and use that"))
		return false
	case named.TypeArgs().Len() > 0:
		r.faults.at(pos, "the Status of %s has the generic type %s: %s", name, named.Obj().Name(), w.cure("use a type without type parameters"))
		return false
	}
	k.status = named.Obj()
	if !r.deepCopies(k.status) {
		r.faults.at(r.fset.Position(k.status.Pos()), "%s, the Status of %s, has no DeepCopyInto: %s", k.status.Name(), name, w.cure("add // +kubebuilder:object:generate=true above it, and run controller-gen object"))
		return false
	}
	if !r.callable(w, k.status, "DeepCopyInto") {
		return false
	}
	k.conditions, k.namedConditions = conditionsOf(k.status.Type())
	k.observedGeneration = observedGenerationOf(k.status.Type())
	return true
}

// reach says why the field at index cannot be the status that the API server stores, and what to do.
func reach(t types.Type, index []int) (fault, cure string) {
	for depth, i := range index {
		s := t.Underlying().(*types.Struct)
		field, tag := s.Field(i), jsonTag(s.Tag(i))
		last := depth == len(index)-1
		switch {
		case last && tag.name != "status":
			return fmt.Sprintf("the JSON name of the Status field is %q, but the API server stores the status under \"status\"", tag.name), "write the tag `json:\"status,omitempty\"`"
		case !last && tag.name != "":
			return fmt.Sprintf("Status is a field of %s, whose JSON name is %q, but the API server stores the status at the top level of the object", field.Name(), tag.name), "write the tag `json:\",inline\"`"
		case !last && isPointer(field.Type()):
			return "Status is a field of the embedded pointer " + field.Name() + ", which may be nil", "embed the struct instead"
		}
		t = field.Type()
	}
	return "", ""
}

func isPointer(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Pointer)
	return ok
}

// A tag is what encoding/json reads of a struct tag.
type tag struct {
	name                           string
	omitEmpty, omitZero, forgotten bool
}

func jsonTag(raw string) tag {
	value := reflect.StructTag(raw).Get("json")
	if value == "-" {
		return tag{forgotten: true}
	}
	name, options, _ := strings.Cut(value, ",")
	t := tag{name: name}
	for option := range strings.SplitSeq(options, ",") {
		t.omitEmpty = t.omitEmpty || option == "omitempty"
		t.omitZero = t.omitZero || option == "omitzero"
	}
	return t
}

func (r *resolver) deepCopies(status *types.TypeName) bool {
	s := r.prune.byPath(status.Pkg().Path())
	return s != nil && s.promises(method{status.Name(), "DeepCopyInto"})
}

// callable checks the signature of a method for deep copies, which someone may have written by hand.
func (r *resolver) callable(w wanted, obj *types.TypeName, name string) bool {
	m := method{obj.Name(), name}
	text := r.prune.byPath(obj.Pkg().Path()).methods[m]
	if text == nil || text.callable(m) {
		return true
	}
	want := "func (in *" + m.of + ") DeepCopyInto(out *" + m.of + ")"
	if name == "DeepCopyObject" {
		want = "func (in *" + m.of + ") DeepCopyObject() runtime.Object"
	}
	r.faults.at(text.pos(), "%s has a %s that generated code cannot call: %s", m.of, name, w.cure("declare "+want+", or remove it and run controller-gen object"))
	return false
}

// conditionsOf tells whether a status has Conditions that the helpers can set.
func conditionsOf(status types.Type) (has, named bool) {
	field := directField(status, "Conditions")
	if field == nil {
		return false, false
	}
	slice, ok := field.Type().Underlying().(*types.Slice)
	if !ok {
		return false, false
	}
	element, ok := types.Unalias(slice.Elem()).(*types.Named)
	if !ok || !isMeta(element.Obj(), "Condition") {
		return false, false
	}
	_, named = types.Unalias(field.Type()).(*types.Named)
	return true, named
}

func observedGenerationOf(status types.Type) bool {
	field := directField(status, "ObservedGeneration")
	return field != nil && types.Identical(field.Type(), types.Typ[types.Int64])
}

// directField finds a field, promoted or not, that is always there: none behind an embedded pointer.
func directField(t types.Type, name string) *types.Var {
	obj, index, _ := types.LookupFieldOrMethod(t, true, nil, name)
	field, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	for _, i := range index[:len(index)-1] {
		embedded := t.Underlying().(*types.Struct).Field(i)
		if isPointer(embedded.Type()) {
			return nil
		}
		t = embedded.Type()
	}
	return field
}
