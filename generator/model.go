package generator

import (
	"cmp"
	"go/types"
	"slices"
)

// A file is all that the templates are told of one generated file.
type file struct {
	Header, Boilerplate string
	// Package is the name of the package, and Contents what its doc comment says of it.
	Package, Contents string
	// Same tells that the file is in the API package itself.
	Same bool
	// Constraint is the build constraint, empty for none.
	Constraint       string
	Standard, Others []string
	Kinds            []*kindModel
	// KindsFunc is the name of the function that returns all kinds, and NewClientVar that of the constructor of a client that
	// checks their status writes.
	KindsFunc, NewClientVar string
	Funcs                   []*equalFunc
}

// A kindModel is what the templates are told of one kind.
type kindModel struct {
	Name, Article string
	// Prefix is what the names of its client and patcher start with: that of the kind, and of the owner if they are an owner's.
	Prefix string
	// Owner is the one whose client and patcher these are; nil for those of the kind. Owners are the models of the kind's owners.
	Owner  *ownerModel
	Owners []*kindModel
	// Object is the kind's type, StatusType its status's, and Status that of the field, which may be a pointer.
	Object, StatusType, Status string
	// Nilable tells that the status is a map or a slice.
	Pointer, Nilable, ClusterScoped bool
	// Var is what an object is called in a signature.
	Var, KindVar, TrimFunc string
	// Equal, Conditions and ObservedGeneration are expressions; the last two are empty for a kind without.
	Equal, Conditions, ObservedGeneration string
	Trims                                 []trim
	WriteOnce                             []onceModel
}

// An ownerModel describes an owner for the templates.
type ownerModel struct {
	ownerDecl
	// Var is the variable that declares the owner.
	Var string
}

// A onceModel describes a write-once field for the templates.
type onceModel struct {
	// Path is of JSON names, Method what its methods are called after, and Type that of its value.
	Path, Method, Type string
}

// A modeller makes the model of one file.
type modeller struct {
	imports *imports
	names   *names
	compare *comparer
}

func (m *modeller) kinds(kinds []kind) []*kindModel {
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.obj.Name(), b.obj.Name()), cmp.Compare(a.obj.Pkg().Path(), b.obj.Pkg().Path()))
	})
	// The packages of the kinds choose their names first, then all others.
	for _, k := range kinds {
		m.imports.typeName(k.obj)
	}
	for _, path := range []string{"context", clientPath, reconcilePath, patcherPath} {
		m.imports.use(path)
	}
	out := make([]*kindModel, len(kinds))
	for i, k := range kinds {
		out[i] = m.kind(k)
	}
	return out
}

func (m *modeller) kind(k kind) *kindModel {
	name := k.obj.Name()
	out := &kindModel{
		Name:          name,
		Prefix:        name,
		Article:       article(name),
		Object:        m.imports.typeName(k.obj),
		StatusType:    m.imports.typeName(k.status),
		Pointer:       k.pointer,
		ClusterScoped: k.clusterScoped,
		KindVar:       m.names.exported(name+"Kind", name+"StatusKind"),
		Var:           variable(name, func(v string) bool { return !m.imports.free(v) }),
	}
	out.Status = out.StatusType
	if k.pointer {
		out.Status = "*" + out.StatusType
	}
	switch k.status.Type().Underlying().(type) {
	case *types.Map, *types.Slice:
		out.Nilable = true
	}
	m.equality(k, out)
	m.accessors(k, out)
	for _, f := range k.writeOnce {
		out.WriteOnce = append(out.WriteOnce, onceModel{Path: f.path, Method: f.method, Type: m.imports.spell(f.value)})
	}
	for _, o := range k.owners {
		out.Owners = append(out.Owners, m.owner(k, out, o))
	}
	return out
}

// owner is the model of one owner's client and patcher: those of the kind, without what the owner does not write.
func (m *modeller) owner(k kind, of *kindModel, o ownerDecl) *kindModel {
	out := *of
	out.Prefix, out.Owners = of.Name+upperFirst(o.Name), nil
	out.Owner = &ownerModel{ownerDecl: o, Var: m.names.unexported(lowerFirst(of.Name) + upperFirst(o.Name) + "Owner")}
	if len(o.Conditions) == 0 && !slices.Contains(o.Fields, "conditions") {
		out.Conditions = ""
	}
	if !slices.Contains(o.Fields, "observedGeneration") {
		out.ObservedGeneration = ""
	}
	out.WriteOnce = nil
	for _, f := range of.WriteOnce {
		if o.writes(f.Path) {
			out.WriteOnce = append(out.WriteOnce, f)
		}
	}
	return &out
}

func (m *modeller) equality(k kind, out *kindModel) {
	t := k.status.Type()
	way := m.compare.way(t)
	switch {
	case way == deeply:
		out.Equal = "patcher.EqualDeep[" + out.Status + "]"
	case k.pointer:
		out.Equal = "func(a, b *" + out.Status + ") bool { return patcher.EqualPointerFunc(*a, *b, " + m.compare.value(t) + ") }"
	default:
		out.Equal = m.compare.value(t)
	}
	if named, ok := t.(*types.Named); ok && !k.pointer {
		if out.Trims = m.compare.trims(named); len(out.Trims) > 0 {
			out.TrimFunc = m.names.unexported("trim" + upperFirst(k.status.Name()))
		}
	}
}

func (m *modeller) accessors(k kind, out *kindModel) {
	if k.conditions {
		m.imports.use(metaPath)
		out.Conditions = accessor(k, out, "Conditions", "*[]metav1.Condition")
	}
	if k.observedGeneration {
		out.ObservedGeneration = accessor(k, out, "ObservedGeneration", "*int64")
	}
}

// accessor is the function that returns where a field of the status is: nowhere, if the status is a nil pointer.
func accessor(k kind, out *kindModel, field, result string) string {
	value, start := "&status."+field, ""
	if k.pointer {
		value = "&(*status)." + field
		start = "\n\t\tif *status == nil {\n\t\t\treturn nil\n\t\t}\n\t\t"
	}
	if field == "Conditions" && k.namedConditions {
		value = "(" + result + ")(" + value + ")"
	}
	return "func(status *" + out.Status + ") " + result + " { " + start + "return " + value + " }"
}
