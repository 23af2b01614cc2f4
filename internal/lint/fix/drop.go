package fix

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

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
			if len(a.Lhs) == 1 && inBlock(m.fn, a) && (a.Tok == token.DEFINE || m.capturesAgain(a)) {
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

// capturesAgain: base = obj.DeepCopy(), for what is still to come. The patcher's base moves with each Flush that succeeds, and
// stays where one fails.
func (m *mover) capturesAgain(a *ast.AssignStmt) bool {
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || a.Tok != token.ASSIGN || !kube.IsCopy(m.fn.Pkg.Callee(call)) {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && rootIdent(m.fn.Pkg, sel.X) == m.obj
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
