package fix

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// fetch rewrites the declaration of the object and its Get to a Fetch.
func (m *mover) fetch() bool {
	decl, get := m.declAndGet()
	if get == nil {
		return false
	}
	call, errName, cond := getOf(m.fn, get)
	if call == nil || len(call.Args) != 3 || !m.leavesOnError(get) {
		return false
	}
	c := clientOf(m.fn, call)
	if c == "" || !m.sameClient(c) {
		return false
	}
	statuses := m.freshIn(m.fn, statusesNames(m.kind)...)
	m.patcher = m.freshIn(m.fn, m.obj.Name()+"Status", m.obj.Name()+"Patcher")
	if statuses == "" || m.patcher == "" {
		return false
	}
	m.errName, m.client, m.get = errName, c, call
	live := m.liveReader()
	m.runtime = m.runtime || live == noLiveReader
	text := statuses + " := " + path.Base(m.child) + ".New" + m.kind.Obj().Name() + "StatusClient(" + c + ", " + live + ")\n" +
		m.obj.Name() + ", " + m.patcher + ", " + errName + " := " + statuses + ".Fetch(" + types.ExprString(call.Args[0]) + ", " + m.key(call.Args[1]) + ")\n"
	if cond != nil {
		text += "if " + types.ExprString(cond.Cond) + " "
		m.replace(get.Pos(), cond.Body.Lbrace, text)
		m.redeclared(get, errName)
	} else {
		m.replace(get.Pos(), get.End(), strings.TrimSuffix(text, "\n"))
	}
	m.dropLine(decl)
	return true
}

// leavesOnError: where the read has failed, the function returns at once and does not use the object. Fetch returns none
// there, so that any use would dereference nil.
func (m *mover) leavesOnError(get ast.Stmt) bool {
	_, _, check := getOf(m.fn, get)
	a, _ := get.(*ast.AssignStmt)
	if check == nil {
		check = nextIf(m.fn, get)
	} else {
		a, _ = check.Init.(*ast.AssignStmt)
	}
	if check == nil || a == nil || check.Else != nil || !isNotNil(m.fn.Pkg, check.Cond, m.fn.Pkg.Var(a.Lhs[0])) {
		return false
	}
	return leaves(check.Body) && !mentions(m.fn.Pkg, check.Body, m.obj)
}

// readOnce: nothing else reads into the object, which would leave the patcher with the base of the first read.
func (m *mover) readOnce() bool {
	once := true
	ast.Inspect(m.fn.Body(), func(n ast.Node) bool {
		stmt, ok := n.(ast.Stmt)
		if !ok || !once {
			return once
		}
		for _, ev := range m.safety.tracker.Events(m.fn, stmt) {
			once = once && (ev.Kind != object.Read || ev.Path != m.path || ast.Node(ev.At) == m.get)
		}
		return true
	})
	return once
}

// key is the second argument of Get as it is written.
func (m *mover) key(e ast.Expr) string {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		var parts []string
		for _, el := range lit.Elts {
			kv, ok := el.(*ast.KeyValueExpr)
			if !ok {
				parts = append(parts, types.ExprString(el))
				continue
			}
			parts = append(parts, types.ExprString(kv.Key)+": "+types.ExprString(kv.Value))
		}
		return types.ExprString(lit.Type) + "{" + strings.Join(parts, ", ") + "}"
	}
	return types.ExprString(e)
}

// declAndGet are the statement that declares the object empty and the one that reads it, both in the function's own block.
func (m *mover) declAndGet() (decl, get ast.Stmt) {
	for _, stmt := range m.fn.Body().List {
		if decl == nil {
			if m.declares(stmt) {
				decl = stmt
			}
			continue
		}
		if call, _, _ := getOf(m.fn, stmt); call != nil && len(call.Args) == 3 && rootIdent(m.fn.Pkg, call.Args[2]) == m.obj {
			return decl, stmt
		}
		if mentions(m.fn.Pkg, stmt, m.obj) {
			return nil, nil
		}
	}
	return nil, nil
}

func mentions(pkg *flow.Package, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && pkg.Info.Uses[id] == v {
			found = true
		}
		return !found
	})
	return found
}

// declares: cell := &v1.Cell{}, cell := v1.Cell{}, var cell v1.Cell, cell := new(v1.Cell).
func (m *mover) declares(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE || len(s.Lhs) != 1 || m.fn.Pkg.Var(s.Lhs[0]) != m.obj {
			return false
		}
		rhs := ast.Unparen(s.Rhs[0])
		if u, ok := rhs.(*ast.UnaryExpr); ok && u.Op == token.AND {
			rhs = u.X
		}
		if lit, ok := rhs.(*ast.CompositeLit); ok {
			return len(lit.Elts) == 0
		}
		call, ok := rhs.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "new"
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		if !ok || len(g.Specs) != 1 {
			return false
		}
		spec, ok := g.Specs[0].(*ast.ValueSpec)
		return ok && len(spec.Names) == 1 && len(spec.Values) == 0 && m.fn.Pkg.Info.Defs[spec.Names[0]] == m.obj
	}
	return false
}

// getOf is the Get that a statement makes, with the name of its error: `if err := Get; err != nil` or `err := Get`.
func getOf(f *flow.Func, stmt ast.Stmt) (call *ast.CallExpr, errName string, cond *ast.IfStmt) {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok {
		cond, ok = stmt.(*ast.IfStmt)
		if !ok || cond.Init == nil || cond.Else != nil {
			return nil, "", nil
		}
		if a, ok = cond.Init.(*ast.AssignStmt); !ok {
			return nil, "", nil
		}
	}
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.DEFINE && cond == nil {
		return nil, "", nil
	}
	id, isIdent := a.Lhs[0].(*ast.Ident)
	c, isCall := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !isIdent || !isCall || id.Name == "_" {
		return nil, "", nil
	}
	if into, _ := kube.IsGet(f.Pkg.Callee(c)); !into {
		return nil, "", nil
	}
	return c, id.Name, cond
}

// clientOf is the client.Client by which a call is made, as an expression: r.Client where r embeds it.
func clientOf(f *flow.Func, call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	t, text := f.Pkg.TypeOf(sel.X), types.ExprString(sel.X)
	s := f.Pkg.Info.Selections[sel]
	if s == nil {
		return ""
	}
	for _, i := range s.Index()[:len(s.Index())-1] {
		n := kube.Named(t)
		if n == nil {
			return ""
		}
		st, ok := n.Underlying().(*types.Struct)
		if !ok {
			break // an interface's own embedding
		}
		field := st.Field(i)
		t, text = field.Type(), text+"."+field.Name()
	}
	if !kube.IsNamed(t, kube.ClientPath, "Client") {
		return ""
	}
	return text
}

// sameClient: every write goes through the client that read.
func (m *mover) sameClient(c string) bool {
	for _, f := range m.sites {
		sel, ok := ast.Unparen(f.Call.Fun).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		writer, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok || clientOf(f.Fn, writer) != c {
			return false
		}
	}
	return true
}

// redeclared: the error is now a variable of the function's block, where later statements may declare it again.
func (m *mover) redeclared(get ast.Stmt, name string) {
	for _, stmt := range m.fn.Body().List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || a.Pos() < get.Pos() || a.Tok != token.DEFINE || len(a.Lhs) != 1 {
			continue
		}
		if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == name {
			m.replace(a.TokPos, a.TokPos+2, "=")
		}
	}
}
