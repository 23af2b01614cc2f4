package class

import (
	"go/ast"
	"go/constant"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// skipped: a statement stands under a condition that what was handed over makes false: `if strict`, called with false.
// Only conditions on a plain parameter or field are looked at; any other may hold.
func skipped(fr *flow.Frame, n ast.Node) bool {
	f := fr.Fn
	for p := f.Parent(n); p != nil; n, p = p, f.Parent(p) {
		stmt, ok := p.(*ast.IfStmt)
		if !ok || n != stmt.Body && n != stmt.Else {
			continue
		}
		if canBe(fr, stmt.Cond, n == stmt.Else) {
			return true
		}
	}
	return false
}

// canBe: one of the values that a flag is given in sight is the constant.
func canBe(fr *flow.Frame, cond ast.Expr, want bool) bool {
	cond = ast.Unparen(cond)
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		return canBe(fr, not.X, !want)
	}
	switch cond.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return false
	}
	for _, v := range flow.Trace(cond, fr, nil) {
		if v.Kind != flow.Expression || v.Expr == nil || v.Expr == cond {
			continue
		}
		tv := v.Frame.Fn.Pkg.Info.Types[v.Expr]
		if tv.Value != nil && tv.Value.Kind() == constant.Bool && constant.BoolVal(tv.Value) == want {
			return true
		}
	}
	return false
}

// never: a node stands under a condition on a flag that every call in sight sets to the opposite.
func never(fr *flow.Frame, n ast.Node) bool {
	f := fr.Fn
	for p := f.Parent(n); p != nil; n, p = p, f.Parent(p) {
		stmt, ok := p.(*ast.IfStmt)
		if !ok || n != stmt.Body && n != stmt.Else {
			continue
		}
		if always(fr, stmt.Cond, n == stmt.Else) {
			return true
		}
	}
	return false
}

// always: a flag is given in sight, and each time it is the constant.
func always(fr *flow.Frame, cond ast.Expr, want bool) bool {
	cond = ast.Unparen(cond)
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		return always(fr, not.X, !want)
	}
	if _, ok := cond.(*ast.Ident); !ok {
		return false
	}
	values := flow.Trace(cond, fr, nil)
	for _, v := range values {
		if v.Kind != flow.Expression || v.Expr == nil || !v.Frame.CalledInSight() {
			return false
		}
		tv := v.Frame.Fn.Pkg.Info.Types[v.Expr]
		if tv.Value == nil || tv.Value.Kind() != constant.Bool || constant.BoolVal(tv.Value) != want {
			return false
		}
	}
	return len(values) > 0
}
