package fix

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/lint/class"
	"github.com/statuspatcher/statuspatcher/lint/flow"
	"github.com/statuspatcher/statuspatcher/lint/kube"
)

// Patchers finds the package with the generated patchers of an API package; empty if there is none.
type Patchers func(apiPackage string) (path string)

// move rewrites, for each function and object, the read and all status writes to the generated patcher, where fetch, base
// and flush stand in that function.
func move(findings []*class.Finding, s *safety, patchers Patchers) {
	if patchers == nil {
		return
	}
	type place struct {
		fn   *flow.Func
		path string
	}
	groups := map[place][]*class.Finding{}
	var order []place
	for _, f := range findings {
		if f.Site == nil || !f.Site.Status || f.Site.Object() == nil || f.Class == class.Generated {
			continue
		}
		p := place{f.Fn.Outermost(), f.Fn.Path(f.Site.Object())}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], f)
	}
	for _, p := range order {
		m := &mover{fn: p.fn, path: p.path, sites: groups[p], safety: s, patchers: patchers}
		if edits, ok := m.edits(); ok {
			for _, f := range groups[p] {
				f.Fixes = append(f.Fixes, class.FixEdit{Message: "Write by the generated patcher", Safe: true, Edits: edits})
			}
		}
	}
}

// mover moves one object of one function.
type mover struct {
	fn       *flow.Func
	path     string
	sites    []*class.Finding
	safety   *safety
	patchers Patchers

	obj     *types.Var // the object's variable
	value   bool       // it is a struct, not a pointer
	kind    *types.Named
	child   string // import path of the patcher package
	patcher string // name of the patcher's variable
	runtime bool   // the code names the runtime's package
	out     []class.Edit
}

func (m *mover) edits() ([]class.Edit, bool) {
	for _, step := range []func() bool{m.movable, m.object, m.fetch, m.uses, m.safe, m.flushes, m.imports} {
		if !step() {
			return nil, false
		}
	}
	return m.out, true
}

func (m *mover) replace(from, to token.Pos, text string) {
	m.out = append(m.out, class.Edit{Pos: from, End: to, Text: text})
}

// movable: only classes whose fault, if any, the patcher cures, and none that a directive allows.
func (m *mover) movable() bool {
	if m.fn.Decl == nil || m.path == "" {
		return false
	}
	for _, f := range m.sites {
		switch f.Class {
		case class.BlindMerge, class.StaleBase, class.Locked, class.Update:
		default:
			return false
		}
		if f.Allowed != "" || f.Dropped || len(f.Site.Options()) > 0 || f.Site.Writer != kube.SubResource {
			return false
		}
		// What runs again with a fresh read each time needs Retry, not Flush.
		for fn := f.Fn; fn.Lit != nil; fn = fn.Outer {
			if call, ok := fn.Parent(fn.Lit).(*ast.CallExpr); ok && kube.IsRepeater(fn.Pkg.Callee(call)) {
				return false
			}
		}
	}
	return true
}

// object: a local variable of a concrete kind that has a patcher package.
func (m *mover) object() bool {
	for _, f := range m.sites {
		v := rootIdent(m.fn.Pkg, f.Site.Object())
		if v == nil || flow.VarPath(v) != m.path || m.obj != nil && m.obj != v {
			return false
		}
		m.obj = v
	}
	if _, param := m.fn.ParamIndex(m.obj); param || m.fn.Pkg.Owner(m.obj) != m.fn {
		return false
	}
	_, pointer := types.Unalias(m.obj.Type()).(*types.Pointer)
	m.value = !pointer
	m.kind = kube.Named(m.obj.Type())
	if m.kind == nil || m.kind.TypeArgs().Len() > 0 || m.kind.Obj().Pkg() == nil || types.IsInterface(m.kind) {
		return false
	}
	m.child = m.patchers(m.kind.Obj().Pkg().Path())
	return m.child != ""
}

func rootIdent(pkg *flow.Package, e ast.Expr) *types.Var {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	return pkg.Var(e)
}

// safe: nothing writes the object between the read and any of the writes, but these writes themselves.
func (m *mover) safe() bool {
	m.safety.ignore = map[*ast.CallExpr]bool{}
	for _, f := range m.sites {
		m.safety.ignore[f.Call] = true
	}
	defer func() { m.safety.ignore = nil }()
	for _, f := range m.sites {
		if !m.safety.freshUntil(f) {
			return false
		}
	}
	return true
}

// uses: a struct variable becomes a pointer, so it may be used only by address or by selector; no other assignment.
func (m *mover) uses() bool {
	ok := true
	ast.Inspect(m.fn.Body(), func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || m.fn.Pkg.Info.Uses[id] != m.obj {
			return ok
		}
		switch p := m.fn.Parent(id).(type) {
		case *ast.SelectorExpr:
		case *ast.UnaryExpr:
			if m.value && p.Op == token.AND {
				m.replaceUse(p)
			} else {
				ok = ok && !m.value
			}
		case *ast.AssignStmt:
			for _, lhs := range p.Lhs {
				ok = ok && lhs != ast.Expr(id)
			}
			ok = ok && !m.value
		default:
			ok = ok && !m.value
		}
		return ok
	})
	return ok
}

// replaceUse turns &cell into cell, unless the statement around it is rewritten anyway.
func (m *mover) replaceUse(u *ast.UnaryExpr) {
	for _, f := range m.sites {
		if f.Call.Pos() <= u.Pos() && u.End() <= f.Call.End() {
			return
		}
	}
	for _, e := range m.out {
		if e.Pos <= u.Pos() && u.End() <= e.End {
			return
		}
	}
	m.replace(u.Pos(), u.X.Pos(), "")
}

// flushes rewrites the writes and drops what they needed: bases, patches and guards.
func (m *mover) flushes() bool {
	held := map[*types.Var]bool{}
	for _, f := range m.sites {
		if !m.flush(f) {
			return false
		}
		if !m.collect(f, held) {
			return false
		}
	}
	return m.drop(held)
}

// flush rewrites one write by the way in which its error is used.
func (m *mover) flush(f *class.Finding) bool {
	if len(f.Site.Args) == 0 {
		return false
	}
	ctx := types.ExprString(f.Site.Args[0])
	call := m.patcher + ".Flush(" + ctx + ")"
	fn := f.Fn
	switch p := fn.Parent(f.Call).(type) {
	case *ast.AssignStmt:
		if len(p.Lhs) != 1 || len(p.Rhs) != 1 {
			return false
		}
		m.replace(p.Lhs[0].Pos(), p.Lhs[0].Pos(), "_, ")
		m.replace(f.Call.Pos(), f.Call.End(), call)
		return true
	case *ast.ReturnStmt:
		return m.flushReturn(fn, p, f.Call, call)
	}
	return false
}

// flushReturn: a write that is returned becomes a check and a return, since Flush has two results.
func (m *mover) flushReturn(fn *flow.Func, ret *ast.ReturnStmt, site *ast.CallExpr, call string) bool {
	if ast.Unparen(ret.Results[len(ret.Results)-1]) != ast.Expr(site) {
		return false
	}
	var others string
	for _, r := range ret.Results[:len(ret.Results)-1] {
		text, ok := plain(r)
		if !ok {
			return false
		}
		others += text + ", "
	}
	m.replace(ret.Pos(), ret.End(), "if _, err := "+call+"; err != nil {\nreturn "+others+"err\n}\nreturn "+others+"nil")
	return true
}

// collect notes the variables that hold the base or the patch of a write, which may be used for nothing else.
func (m *mover) collect(f *class.Finding, held map[*types.Var]bool) bool {
	if f.Site.Verb == kube.Update {
		return true
	}
	patch := f.Site.Patch()
	if v := m.fn.Pkg.Var(patch); v != nil {
		held[v] = true
	}
	if f.Merge == nil {
		return false
	}
	merge, ok := f.Merge.Expr.(*ast.CallExpr)
	if !ok || f.Merge.Frame.Fn.Outermost() != m.fn.Outermost() {
		return false
	}
	if v := rootIdent(m.fn.Pkg, merge.Args[0]); v != nil && v != m.obj {
		held[v] = true
	}
	return true
}

// drop removes the statements that define the held variables, and the guards that compare with a base.
func (m *mover) drop(held map[*types.Var]bool) bool {
	ok := true
	ast.Inspect(m.fn.Body(), func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || !ok {
			return ok
		}
		v, _ := m.fn.Pkg.Info.ObjectOf(id).(*types.Var)
		if !held[v] {
			return true
		}
		ok = m.dropUse(id)
		return ok
	})
	return ok
}

func (m *mover) dropUse(id *ast.Ident) bool {
	for n := ast.Node(id); n != nil && n != m.fn.Node(); n = m.fn.Parent(n) {
		if call, isCall := n.(*ast.CallExpr); isCall {
			if m.isSite(call) {
				return true // the argument goes away with the call
			}
			if isEqual(m.fn.Pkg, call) {
				return m.dropGuard(call)
			}
		}
		if a, isAssign := n.(*ast.AssignStmt); isAssign {
			_, inBlock := m.fn.Parent(a).(*ast.BlockStmt)
			if len(a.Lhs) == 1 && a.Tok == token.DEFINE && inBlock {
				m.dropLine(a)
				return true
			}
			return false
		}
	}
	return false
}

func (m *mover) isSite(call *ast.CallExpr) bool {
	for _, f := range m.sites {
		if f.Call == call {
			return true
		}
	}
	return false
}

// dropLine removes a statement with its line.
func (m *mover) dropLine(stmt ast.Stmt) {
	file := m.fn.Pkg.Fset.File(stmt.Pos())
	from, to := file.LineStart(file.Line(stmt.Pos())), stmt.End()
	if last := file.Line(stmt.End()); last < file.LineCount() {
		to = file.LineStart(last + 1)
	}
	for _, e := range m.out {
		if e.Pos == from && e.End == to || e.Pos <= stmt.Pos() && stmt.End() <= e.End {
			return
		}
	}
	m.replace(from, to, "")
}
