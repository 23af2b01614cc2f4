package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// unused finds what only the old calls needed: the variables that held bases and patches, and the parameters that carried them.
type unused struct {
	src   *sources
	edits fileEdits
	gone  []ast.Node // expressions that are removed
	done  map[*types.Var]bool
	hit   map[*flow.Func]bool // functions that have lost a parameter
}

// drop removes what an expression used, and nothing else does, after the expression is gone. It returns why a variable that
// nothing uses any more cannot be removed: the program would not compile.
func (u *unused) drop(f *flow.Func, e ast.Node) *reason {
	u.gone = append(u.gone, e)
	vars := map[*types.Var]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := f.Pkg.Info.Uses[id].(*types.Var); ok && f.Pkg.Owner(v) != nil && f.Pkg.Owner(v).Outermost() == f.Outermost() {
				vars[v] = true
			}
		}
		return true
	})
	for v := range vars {
		if u.done[v] || u.stillUsed(f, v) {
			continue
		}
		if i, param := f.Pkg.Owner(v).ParamIndex(v); param {
			if why := u.parameter(f.Pkg.Owner(v), v, i); why != nil {
				return why
			}
			continue
		}
		u.done[v] = true
		if why := u.definitions(f, v); why != nil {
			return why
		}
	}
	return nil
}

// stillUsed reports whether v is used outside of what is removed. Giving it a value is no use.
func (u *unused) stillUsed(f *flow.Func, v *types.Var) bool {
	used := false
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || used || f.Pkg.Info.Uses[id] != v || u.isGone(id) {
			return !used
		}
		if a, ok := f.Parent(id).(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && a.Lhs[0] == ast.Expr(id) {
			return true
		}
		used = true
		return false
	})
	return used
}

func (u *unused) isGone(n ast.Node) bool {
	for _, g := range u.gone {
		if g.Pos() <= n.Pos() && n.End() <= g.End() {
			return true
		}
	}
	return false
}

// definitions removes the statements that give v its values.
func (u *unused) definitions(f *flow.Func, v *types.Var) *reason {
	for _, d := range f.Outermost().AllDefs(v) {
		stmt := d.Node
		if spec, ok := stmt.(*ast.ValueSpec); ok {
			decl, isDecl := f.Parent(spec).(*ast.GenDecl)
			if !isDecl || len(decl.Specs) != 1 || len(spec.Names) != 1 {
				return because(spec, "declare it by itself", "%s, which nothing would use any more, is declared together with others", v.Name())
			}
			stmt = f.Parent(decl)
		} else if a, ok := stmt.(*ast.AssignStmt); !ok || len(a.Lhs) != 1 {
			return because(stmt, "assign it by itself", "%s, which nothing would use any more, is assigned together with others", v.Name())
		}
		if d.Rhs != nil && !pure(f.Pkg, d.Rhs) {
			return because(stmt, "remove the variable by hand", "nothing would use %s any more, and the call that makes it may have effects", v.Name())
		}
		switch f.Parent(stmt).(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		default:
			return because(stmt, "remove the variable by hand", "nothing would use %s any more, and it is not a statement of its own", v.Name())
		}
		u.line(f, stmt)
		if d.Rhs != nil {
			if why := u.drop(f, d.Rhs); why != nil {
				return why
			}
		}
	}
	return nil
}

// pure reports whether an expression only copies objects and makes patches.
func pure(pkg *flow.Package, e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.CallExpr:
			fn := pkg.Callee(n)
			merge, _ := kube.MergeFrom(fn)
			getter := fn != nil && len(n.Args) == 0 && fn.Signature().Recv() != nil && strings.HasPrefix(fn.Name(), "Get")
			tv := pkg.Info.Types[n.Fun]
			ok = ok && (merge || getter || tv.IsType() || fn != nil && kube.IsCopy(fn))
		}
		return ok
	})
	return ok
}

// line removes a statement with its line, and the comment right above that is about it alone.
func (u *unused) line(f *flow.Func, stmt ast.Node) {
	from, to := u.src.fset.Position(stmt.Pos()), u.src.fset.Position(stmt.End())
	src := u.src.file(from.Filename)
	start, end := from.Offset, to.Offset
	for start > 0 && (src[start-1] == ' ' || src[start-1] == '\t') {
		start--
	}
	for end < len(src) && (src[end] == ' ' || src[end] == '\t') {
		end++
	}
	if end+1 < len(src) && src[end] == '/' && src[end+1] == '/' { // a comment behind it
		for end < len(src) && src[end] != '\n' {
			end++
		}
	}
	if end < len(src) && src[end] == '\n' && (start == 0 || src[start-1] == '\n') {
		end++
		start = u.commentAbove(f, stmt, start)
		// Of two blank lines, or of one at the start of a block, one goes, too.
		if blankBefore(src, start) && end < len(src) && src[end] == '\n' {
			end++
		}
	} else {
		start, end = from.Offset, to.Offset
	}
	u.edits.add(from.Filename, edit{start, end, ""})
}

func blankBefore(src []byte, start int) bool {
	if start >= 2 && src[start-1] == '\n' && src[start-2] == '\n' {
		return true
	}
	return start >= 2 && src[start-1] == '\n' && src[start-2] == '{'
}

// commentAbove is where the comment starts that stands right above a statement which is followed by a blank line: it is about
// nothing else.
func (u *unused) commentAbove(f *flow.Func, stmt ast.Node, start int) int {
	file := fileOf(f.Pkg, stmt.Pos())
	line := u.src.fset.Position(stmt.Pos()).Line
	src := u.src.file(u.src.fset.Position(stmt.Pos()).Filename)
	for _, group := range file.Comments {
		if u.src.fset.Position(group.End()).Line != line-1 {
			continue
		}
		at := u.src.fset.Position(group.Pos()).Offset
		for at > 0 && (src[at-1] == ' ' || src[at-1] == '\t') {
			at--
		}
		if at > 0 && src[at-1] != '\n' {
			return start
		}
		end := u.src.fset.Position(stmt.End()).Offset
		for end < len(src) && src[end] != '\n' {
			end++
		}
		if end+1 < len(src) && (src[end+1] == '\n' || strings.HasPrefix(strings.TrimSpace(string(src[end+1:])), "}")) || aboutCopies(group.Text()) {
			return at
		}
	}
	return start
}

func aboutCopies(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{"patch", "copy", "original", "base", "diff", "before"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// parameter removes a parameter that nothing uses any more, and what the callers hand over for it. A function that code out of
// sight may call keeps it.
func (u *unused) parameter(f *flow.Func, v *types.Var, i int) *reason {
	if i < 0 || f.Obj == nil || f.Decl == nil || f.Obj.Exported() || f.UsedAsValue() || u.hit[f] || f.Signature().Variadic() || u.namedInTests(f) || implementsInterface(f) {
		return nil
	}
	calls := f.CallsSeen()
	for _, c := range calls {
		if c.In.Pkg.Callee(c.Expr) != f.Obj || len(c.Expr.Args) != f.Signature().Params().Len() || !pure(c.In.Pkg, c.Expr.Args[i]) {
			return nil
		}
	}
	u.hit[f], u.done[v] = true, true
	u.field(f, v)
	for _, c := range calls {
		var args []ast.Node
		for _, a := range c.Expr.Args {
			args = append(args, a)
		}
		u.element(args, i)
		if why := u.drop(c.In, c.Expr.Args[i]); why != nil {
			return why
		}
	}
	return nil
}

func (u *unused) field(f *flow.Func, v *types.Var) {
	var fields []ast.Node
	for k, field := range f.Type().Params.List {
		fields = append(fields, field)
		for j, name := range field.Names {
			if f.Pkg.Info.Defs[name] != v {
				continue
			}
			if len(field.Names) == 1 {
				for _, later := range f.Type().Params.List[k+1:] {
					fields = append(fields, later)
				}
				u.element(fields, k)
				return
			}
			var names []ast.Node
			for _, n := range field.Names {
				names = append(names, n)
			}
			u.element(names, j)
			return
		}
	}
}

// element removes one element of a list that commas separate.
func (u *unused) element(list []ast.Node, i int) {
	switch {
	case i > 0:
		u.edits.replace(u.src.fset, list[i-1].End(), list[i].End(), "")
	case len(list) > 1:
		u.edits.replace(u.src.fset, list[0].Pos(), list[1].Pos(), "")
	default:
		u.edits.replace(u.src.fset, list[0].Pos(), list[0].End(), "")
	}
}

// namedInTests reports whether a test of the package names the function: its call there would not compile any more.
func (u *unused) namedInTests(f *flow.Func) bool {
	dir := filepath.Dir(u.src.fset.Position(f.Node().Pos()).Filename)
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return true
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(text), f.Obj.Name()) {
			return true
		}
	}
	return false
}

// implementsInterface: the method has the name of a method of some interface of its package, or of one that it imports.
func implementsInterface(f *flow.Func) bool {
	if f.Signature().Recv() == nil {
		return false
	}
	scope := f.Pkg.Types.Scope()
	for _, name := range scope.Names() {
		tn, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		iface, ok := tn.Type().Underlying().(*types.Interface)
		for i := 0; ok && i < iface.NumMethods(); i++ {
			if iface.Method(i).Name() == f.Obj.Name() {
				return true
			}
		}
	}
	return false
}
