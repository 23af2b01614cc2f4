package fix

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

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
		m.requeue(fn, errorCheck(fn, f.Call), types.ExprString(p.Lhs[0]))
		return true
	case *ast.ReturnStmt:
		return m.flushReturn(fn, p, f.Call, call)
	}
	return false
}

// flushReturn: a write that is returned becomes two statements, since Flush has two results.
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
	failed := func(errName string) string {
		if reconciles(fn) && emptyResult(ret.Results[0]) {
			m.runtime = true
			return requeueOnConflict(errName)
		}
		return others + errName
	}
	if fn == m.fn {
		errName, assign := m.errName, " = "
		if errName == "" {
			errName, assign = "err", assignment(fn.Pkg, ret.Pos())
		}
		m.replace(ret.Pos(), ret.End(), "_, "+errName+assign+call+"\nreturn "+failed(errName))
		return true
	}
	m.replace(ret.Pos(), ret.End(), "if _, err := "+call+"; err != nil {\nreturn "+failed("err")+"\n}\nreturn "+others+"nil")
	return true
}

// writtenLater: where the error of a write is dropped, the function goes on to another write of the status, or returns an
// error. What the first Flush did not write, the next one does.
func (m *mover) writtenLater(f *class.Finding) bool {
	sig := f.Fn.Signature()
	if sig == nil || sig.Results().Len() == 0 || f.Fn != m.fn {
		return false
	}
	written := true
	m.fn.Walk(m.fn.At(f.Call), func(p flow.Point) bool {
		for _, g := range m.sites {
			if g != f && !g.Dropped && g.Fn == m.fn && m.fn.At(g.Call) == p {
				return false
			}
		}
		if ret, ok := p.Node().(*ast.ReturnStmt); ok {
			written = written && len(ret.Results) > 0 && types.ExprString(ret.Results[len(ret.Results)-1]) != "nil"
		}
		return true
	})
	return written
}

// requeue: in a reconcile, a conflict that would have been returned becomes a short requeue.
func (m *mover) requeue(fn *flow.Func, check *ast.IfStmt, errName string) {
	if check == nil || len(check.Body.List) != 1 || types.ExprString(check.Cond) != errName+" != nil" {
		return
	}
	ret, ok := check.Body.List[0].(*ast.ReturnStmt)
	if !ok || !reconciles(fn) || len(ret.Results) != 2 || !emptyResult(ret.Results[0]) || types.ExprString(ret.Results[1]) != errName {
		return
	}
	m.runtime = true
	m.replace(ret.Pos(), ret.End(), "return "+requeueOnConflict(errName))
}

func requeueOnConflict(errName string) string { return "patcher.RequeueOnConflict(" + errName + ")" }

// reconciles: the function returns what Reconcile does.
func reconciles(fn *flow.Func) bool {
	sig := fn.Signature()
	return sig != nil && sig.Results().Len() == 2 && kube.IsNamed(sig.Results().At(0).Type(), kube.ReconcilePath, "Result") && kube.IsError(sig.Results().At(1).Type())
}

func emptyResult(e ast.Expr) bool {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

// assignment is how err gets a value at pos: it may have been declared in the same block.
func assignment(pkg *flow.Package, pos token.Pos) string {
	if scope := pkg.Types.Scope().Innermost(pos); scope != nil {
		if v, ok := scope.Lookup("err").(*types.Var); ok && v.Pos() < pos {
			return " = "
		}
	}
	return " := "
}
