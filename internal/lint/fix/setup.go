package fix

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

const (
	noLiveReader = "patcher.NoLiveReader"
	liveField    = "APIReader"
)

// liveReader is a reader past the cache that is in reach: a field of the receiver that the package sets to the manager's
// API reader. Without one the patcher may only flush.
func (m *mover) liveReader() string {
	recv := m.fn.Outermost().Param(-1)
	if s := structOf(recv); s != nil {
		for i := range s.NumFields() {
			if isLive(m.fn.Pkg, s.Field(i)) {
				return recv.Name() + "." + s.Field(i).Name()
			}
		}
	}
	return noLiveReader
}

// structOf is what a receiver with a name is, or points to.
func structOf(recv *types.Var) *types.Struct {
	if recv == nil || kube.Named(recv.Type()) == nil || recv.Name() == "" || recv.Name() == "_" {
		return nil
	}
	s, _ := kube.Named(recv.Type()).Underlying().(*types.Struct)
	return s
}

func isLive(pkg *flow.Package, field *types.Var) bool {
	if !kube.IsNamed(field.Type(), kube.ClientPath, "Reader") {
		return false
	}
	defs := pkg.FieldDefs(field)
	for _, d := range defs {
		call, ok := ast.Unparen(d.Rhs).(*ast.CallExpr)
		if !ok {
			return false
		}
		if fn := d.Fn.Pkg.Callee(call); fn == nil || fn.Name() != "GetAPIReader" {
			return false
		}
	}
	return len(defs) > 0
}

// handOver are the edits that give the receiver's type a field for the manager's API reader and set it: in its own set-up
// method, or wherever the package makes one. Nil where no manager is at hand, or another package makes them, too.
func handOver(pkg *flow.Package, recv *types.Var) []class.Edit {
	s := structOf(recv)
	if s == nil || taken(recv.Type(), liveField) {
		return nil
	}
	named := kube.Named(recv.Type()).Obj()
	field := fieldEdit(pkg, named)
	if field == nil {
		return nil
	}
	if set := setUpEdit(pkg, named); set != nil {
		return []class.Edit{*field, *set}
	}
	made := literalEdits(pkg, named)
	if made == nil {
		return nil
	}
	return append([]class.Edit{*field}, made...)
}

func taken(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	return obj != nil
}

// fieldEdit adds the field to the declaration of a struct.
func fieldEdit(pkg *flow.Package, named *types.TypeName) *class.Edit {
	for _, file := range pkg.Files {
		imp := importOf(file, kube.ClientPath)
		if imp == nil || imp.Name != nil && (imp.Name.Name == "." || imp.Name.Name == "_") {
			continue
		}
		name := "client"
		if imp.Name != nil {
			name = imp.Name.Name
		}
		var edit *class.Edit
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || pkg.Info.Defs[spec.Name] != types.Object(named) {
				return edit == nil
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				at := s.Fields.Closing
				edit = &class.Edit{Pos: at, End: at, Text: "\n\n// " + liveField + " reads past the cache.\n" + liveField + " " + name + ".Reader\n"}
			}
			return false
		})
		if edit != nil {
			return edit
		}
	}
	return nil
}

// setUpEdit sets the field at the start of a method of the type that gets a manager.
func setUpEdit(pkg *flow.Package, named *types.TypeName) *class.Edit {
	for _, file := range pkg.Files {
		for _, decl := range file.Decls {
			fd, ok := decl.(*ast.FuncDecl)
			if !ok || fd.Recv == nil || fd.Body == nil {
				continue
			}
			f := pkg.FuncAt(fd)
			recv := f.Param(-1)
			if recv == nil || recv.Name() == "" || recv.Name() == "_" || !pointerTo(recv.Type(), named) {
				continue
			}
			if mgr := managerIn(f); mgr != "" {
				at := fd.Body.Lbrace + 1
				return &class.Edit{Pos: at, End: at, Text: "\n" + recv.Name() + "." + liveField + " = " + mgr + ".GetAPIReader()\n"}
			}
		}
	}
	return nil
}

func pointerTo(t types.Type, named *types.TypeName) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj() == named
}

// managerIn is a parameter that has the method GetAPIReader.
func managerIn(f *flow.Func) string {
	for g := f; g != nil; g = g.Outer {
		sig := g.Signature()
		for i := 0; sig != nil && i < sig.Params().Len(); i++ {
			v := sig.Params().At(i)
			if v.Name() != "" && v.Name() != "_" && kube.HasMethod(v.Type(), "GetAPIReader") {
				return v.Name()
			}
		}
	}
	return ""
}

// literalEdits set the field in every composite literal of the type; nil where one has no manager at hand, or there is none.
func literalEdits(pkg *flow.Package, named *types.TypeName) []class.Edit {
	var edits []class.Edit
	all := true
	for _, p := range pkg.Program().Packages {
		for _, f := range p.Funcs() {
			if f.Body() == nil {
				continue
			}
			ast.Inspect(f.Body(), func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok {
					return p.FuncAt(lit) == f
				}
				lit, ok := n.(*ast.CompositeLit)
				if !ok || !sameName(p.TypeOf(lit), named) {
					return true
				}
				mgr := managerIn(f)
				if p != pkg || mgr == "" || !keyed(lit) {
					all = false
					return true
				}
				edits = append(edits, addKey(lit, liveField+": "+mgr+".GetAPIReader()"))
				return true
			})
		}
	}
	if !all {
		return nil
	}
	return edits
}

// sameName compares by name, since another package knows the type from export data.
func sameName(t types.Type, named *types.TypeName) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == named.Name() && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == named.Pkg().Path()
}

func keyed(lit *ast.CompositeLit) bool {
	for _, e := range lit.Elts {
		if _, ok := e.(*ast.KeyValueExpr); !ok {
			return false
		}
	}
	return true
}

func addKey(lit *ast.CompositeLit, text string) class.Edit {
	if len(lit.Elts) == 0 {
		return class.Edit{Pos: lit.Rbrace, End: lit.Rbrace, Text: text}
	}
	at := lit.Elts[len(lit.Elts)-1].End()
	return class.Edit{Pos: at, End: at, Text: ", " + text}
}
