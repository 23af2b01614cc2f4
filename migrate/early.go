package migrate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// clearedEarly finds a field of the status that is cleared before a write that can fail, where w sends the cleared field also then: w is
// deferred, or stands in the branch of the failure. It is what the lint rule reports as cleared-early of a deferred FlushOnReturn. A
// move keeps what is sent, and so it keeps this mistake.
func (m *mover) clearedEarly(w *write) (cleared, step ast.Node) {
	if w.Call == nil || w.Object() == nil {
		return nil, nil
	}
	path := w.Fn.Path(w.Object())
	f := w.Fn
	if f.Deferred() && f.Outer != nil {
		f = f.Outer
	}
	if path == "" || f.Graph() == nil {
		return nil, nil
	}
	f.Walk(f.Entry(), func(p flow.Point) bool {
		if cleared != nil {
			return false
		}
		if field := clears(f, p.Node(), path); field != "" {
			if s := m.stepAfter(f, p, field, path, w); s != nil {
				cleared, step = p.Node(), s
			}
		}
		return cleared == nil
	})
	return cleared, step
}

// clears is the path of the field below the status of the object that a node sets to nil or to an empty value.
func clears(f *flow.Func, n ast.Node, path string) string {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !isEmpty(f.Pkg, a.Rhs[0]) {
		return ""
	}
	if field := f.Path(a.Lhs[0]); flow.Within(field, path+".Status") {
		return field
	}
	return ""
}

func isEmpty(pkg *flow.Package, e ast.Expr) bool {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok {
		if _, null := pkg.Info.Uses[id].(*types.Nil); null {
			return true
		}
	}
	tv := pkg.Info.Types[e]
	return tv.Value != nil && tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == ""
}

// stepAfter is a write that can run after p, before the field is set again or the object is written or read again, and whose failure
// leads to w.
func (m *mover) stepAfter(f *flow.Func, p flow.Point, field, path string, w *write) (step ast.Node) {
	f.Walk(p, func(q flow.Point) bool {
		n := q.Node()
		if step != nil || setsField(f, n, field) {
			return false
		}
		f.EachCall(n, func(call *ast.CallExpr) {
			writer, _ := kube.Kind(f.Pkg.Callee(call))
			if step == nil && writer == kube.Main && (w.Fn.Deferred() && returnsError(f, n, call) || contains(failure(f, n), w.Call)) {
				step = call
			}
		})
		return step == nil && !m.edits.syncs(f, n, path)
	})
	return step
}

func setsField(f *flow.Func, n ast.Node, field string) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, lhs := range a.Lhs {
		if f.Path(lhs) == field {
			return true
		}
	}
	return false
}

// returnsError: the call stands in a return statement, or its error is assigned, and not dropped.
func returnsError(f *flow.Func, n ast.Node, call *ast.CallExpr) bool {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.AssignStmt:
		last, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		return ok && last.Name != "_" && len(n.Rhs) == 1 && ast.Unparen(n.Rhs[0]) == ast.Expr(call)
	}
	return false
}

// failure is the branch that is taken if the call that n assigns the error of fails; an empty node if there is none.
func failure(f *flow.Func, n ast.Node) ast.Node {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return &ast.BadStmt{}
	}
	stmt, ok := f.Parent(a).(*ast.IfStmt)
	if !ok || stmt.Init != ast.Stmt(a) {
		stmt = nextIf(f, a)
	}
	if stmt == nil {
		return &ast.BadStmt{}
	}
	cond, ok := stmt.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || !isNil(cond.Y) || !kube.IsError(f.Pkg.TypeOf(cond.X)) {
		return &ast.BadStmt{}
	}
	return stmt.Body
}

// nextIf is the if statement right after a statement.
func nextIf(f *flow.Func, a ast.Stmt) *ast.IfStmt {
	block, ok := f.Parent(a).(*ast.BlockStmt)
	if !ok {
		return nil
	}
	for i, s := range block.List {
		if s == a && i+1 < len(block.List) {
			next, _ := block.List[i+1].(*ast.IfStmt)
			return next
		}
	}
	return nil
}
