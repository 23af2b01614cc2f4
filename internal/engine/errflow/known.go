package errflow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// nonNilAround notes the errors that are known not to be nil where n stands, from the conditions around it.
func (w *walk) nonNilAround(n ast.Node, s *state) {
	for p := w.f.Parent(n); p != nil && n != w.f.Node(); n, p = p, w.f.Parent(p) {
		switch x := p.(type) {
		case *ast.IfStmt:
			switch n {
			case x.Body:
				w.noteConjuncts(x.Cond, token.NEQ, s)
			case x.Else:
				w.noteConjuncts(x.Cond, token.EQL, s)
			}
		case *ast.CaseClause:
			if len(x.List) == 1 {
				w.noteConjuncts(x.List[0], token.NEQ, s)
			}
		}
	}
}

func (w *walk) noteConjuncts(cond ast.Expr, op token.Token, s *state) {
	w.eachConjunct(cond, op, func(v *types.Var) { s.nonNil[v] = true })
}

// eachConjunct visits the errors that are not nil if cond is true, or, for EQL, if it is false.
func (w *walk) eachConjunct(cond ast.Expr, op token.Token, visit func(*types.Var)) {
	cond = ast.Unparen(cond)
	if b, ok := cond.(*ast.BinaryExpr); ok && (op == token.NEQ && b.Op == token.LAND || op == token.EQL && b.Op == token.LOR) {
		w.eachConjunct(b.X, op, visit)
		w.eachConjunct(b.Y, op, visit)
		return
	}
	if v := w.nonNilIf(cond, op); v != nil {
		visit(v)
	}
}

// nonNilIf is the variable that cond compares with nil by op.
func (w *walk) nonNilIf(cond ast.Expr, op token.Token) *types.Var {
	if call, ok := ast.Unparen(cond).(*ast.CallExpr); ok && op == token.NEQ && len(call.Args) > 0 {
		return w.nonNilIfChecked(call)
	}
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != op || !isNil(b.Y) {
		return nil
	}
	x := ast.Unparen(b.X)
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && ignores(w.f.Pkg.Callee(call)) {
		x = call.Args[0] // what is not nil without some errors is not nil
	}
	v := w.f.Pkg.Var(x)
	if v == nil || !isErrorType(v.Type()) {
		return nil
	}
	return v
}

// nonNilIfChecked is the error of which a check that is true only for real errors is asked.
func (w *walk) nonNilIfChecked(call *ast.CallExpr) *types.Var {
	fn := w.f.Pkg.Callee(call)
	if !kube.IsConflictCheck(fn) && !kube.IsOtherReasonCheck(fn) && !kube.IsFunc(fn, "errors", "Is", "As") {
		return nil
	}
	v := w.f.Pkg.Var(call.Args[0])
	if v == nil || !kube.IsError(v.Type()) {
		return nil
	}
	return v
}

func isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "nil"
}
