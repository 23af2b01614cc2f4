package generator

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A staleCopy is a DeepCopyInto that leaves fields shared between the object and its copy. The base of a patcher is such a copy:
// what is changed in place in a shared field is changed in the base too, so that no difference is seen and nothing is written.
type staleCopy struct {
	pos    token.Position
	of     *types.TypeName
	fields []string
	// module is where the method is, if that is not the user's.
	module string
	// generator wrote the method; empty if a person did.
	generator string
}

func (s staleCopy) String() string {
	return fmt.Sprintf("DeepCopyInto of %s does not copy %s, so a change in place would not be seen, and not be written", s.of.Name(), strings.Join(s.fields, ", "))
}

// staleCopies finds the DeepCopyInto methods, of all types that the statuses are made of, that are older than their type.
func (g *generation) staleCopies(c *collector, kinds []kind) []staleCopy {
	var out []staleCopy
	seen := map[types.Type]bool{}
	for _, k := range kinds {
		for _, t := range namedTypes(k.status.Type()) {
			if seen[t] {
				continue
			}
			seen[t] = true
			stale, found := c.staleCopy(t)
			if !found {
				continue
			}
			pkg := c.prune.byPath(stale.of.Pkg().Path()).pkg
			if m := pkg.Module; m == nil {
				stale.module = pkg.PkgPath
			} else if !g.owns(m.Path) {
				stale.module = m.Path + "@" + m.Version
			}
			out = append(out, stale)
		}
	}
	return out
}

// generatedFile matches what generators put into their files, as the go command recommends.
var generatedFile = regexp.MustCompile(`(?m)^// Code generated (?:by )?(.*?)\.? DO NOT EDIT\.\r?$`)

// generatorOf is the command that wrote a file, as the file says it; empty if a person did.
func generatorOf(content []byte) string {
	match := generatedFile.FindSubmatch(content)
	switch {
	case match == nil:
		return ""
	case len(match[1]) == 0:
		return "the generator that wrote it"
	case string(match[1]) == "controller-gen":
		return "controller-gen object"
	}
	return string(match[1])
}

// owns tells whether a module is one that the run reads markers in.
func (g *generation) owns(path string) bool {
	for _, m := range g.modules {
		if m.path == path {
			return true
		}
	}
	return false
}

// reportStale makes faults of the user's stale methods under Verify, where everything has been generated, and notes of others'.
func (g *generation) reportStale(out io.Writer) error {
	for _, s := range g.stale {
		switch {
		case s.module == "" && g.Verify && s.generator != "":
			g.faults.at(s.pos, "%s: run %s", s, s.generator)
		case s.module == "" && g.Verify:
			g.faults.at(s.pos, "%s: copy it in the method, or remove the method and run controller-gen object", s)
		case s.module != "":
			if _, err := fmt.Fprintf(out, "note: %s:%d: %s: assign a new value to the field instead of changing it in place, and report this to %s\n", g.faults.display(s.pos.Filename), s.pos.Line, s, s.module); err != nil {
				return err
			}
		}
	}
	return g.faults.err()
}

// staleCopy judges the DeepCopyInto of a type, if it has one.
func (c *collector) staleCopy(t types.Type) (staleCopy, bool) {
	obj := t.(*types.Named).Obj()
	structure, ok := t.Underlying().(*types.Struct)
	if !ok || obj.Pkg() == nil {
		return staleCopy{}, false
	}
	s := c.prune.byPath(obj.Pkg().Path())
	if s == nil {
		return staleCopy{}, false
	}
	text := s.methods[method{obj.Name(), "DeepCopyInto"}]
	if text == nil {
		return staleCopy{}, false
	}
	fields := shared(text.parse(), structure)
	return staleCopy{pos: text.pos(), of: obj, fields: fields, generator: generatorOf(text.content)}, len(fields) > 0
}

// shared returns the fields that a DeepCopyInto leaves shared, or does not copy at all. A method that hands its receiver on as a
// whole is not judged.
func shared(decl *ast.FuncDecl, structure *types.Struct) []string {
	if decl == nil || decl.Body == nil || len(decl.Recv.List[0].Names) == 0 || decl.Type.Params.NumFields() != 1 || len(decl.Type.Params.List[0].Names) == 0 {
		return nil
	}
	u := &uses{in: decl.Recv.List[0].Names[0].Name, out: decl.Type.Params.List[0].Names[0].Name, fields: map[string]bool{}, structure: structure}
	for _, statement := range decl.Body.List {
		u.statement(statement)
	}
	if u.handedOn {
		return nil
	}
	var out []string
	for field := range structure.Fields() {
		if u.fields[field.Name()] || field.Name() == "_" {
			continue
		}
		if !u.assigned || references(field.Type(), map[types.Type]bool{}) {
			out = append(out, field.Name())
		}
	}
	slices.Sort(out)
	return out
}

// uses are what a DeepCopyInto does with its receiver and its parameter.
type uses struct {
	in, out   string
	structure *types.Struct
	// assigned tells that there is *out = *in.
	assigned bool
	// fields are the fields that the method names.
	fields map[string]bool
	// handedOn tells that the receiver as a whole goes somewhere else.
	handedOn bool
}

func (u *uses) statement(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return !u.shadowed(n)
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && pointee(n.Lhs[0]) == u.out && pointee(n.Rhs[0]) == u.in {
				u.assigned = true
				return false
			}
		case *ast.SelectorExpr:
			if x, ok := ast.Unparen(n.X).(*ast.Ident); ok && (x.Name == u.in || x.Name == u.out) || pointee(n.X) == u.in || pointee(n.X) == u.out {
				u.names(n.Sel.Name)
				return false
			}
		case *ast.Ident:
			u.handedOn = u.handedOn || n.Name == u.in || n.Name == u.out
		}
		return true
	})
}

// names notes a field, or the embedded struct that it is a field of. Anything else is a method, which may do anything.
func (u *uses) names(name string) {
	_, index, _ := types.LookupFieldOrMethod(u.structure, true, nil, name)
	if len(index) > 0 {
		u.fields[u.structure.Field(index[0]).Name()] = true
		return
	}
	for field := range u.structure.Fields() { // an unexported one
		if field.Name() == name {
			u.fields[name] = true
			return
		}
	}
	u.handedOn = true
}

// shadowed reads the first statement of a block that declares names like the receiver's anew, as controller-gen writes it:
// in, out := &in.Names, &out.Names. What follows is about that field.
func (u *uses) shadowed(block *ast.BlockStmt) bool {
	if len(block.List) == 0 {
		return false
	}
	define, ok := block.List[0].(*ast.AssignStmt)
	if !ok || define.Tok != token.DEFINE {
		return false
	}
	for _, lhs := range define.Lhs {
		if name, ok := lhs.(*ast.Ident); ok && (name.Name == u.in || name.Name == u.out) {
			for _, rhs := range define.Rhs {
				u.statement(rhs)
			}
			return true
		}
	}
	return false
}

// pointee returns the x of *x and (*x); empty for anything else.
func pointee(e ast.Expr) string {
	star, ok := ast.Unparen(e).(*ast.StarExpr)
	if !ok {
		return ""
	}
	name, ok := ast.Unparen(star.X).(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

// references tells whether copies of a value share memory that can change.
func references(t types.Type, visiting map[types.Type]bool) bool {
	t = types.Unalias(t)
	if strict(t) || visiting[t] {
		return false
	}
	visiting[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	case *types.Interface:
		return true
	case *types.Array:
		return references(u.Elem(), visiting)
	case *types.Struct:
		for field := range u.Fields() {
			if references(field.Type(), visiting) {
				return true
			}
		}
	}
	return false
}
