package fix

import (
	"go/ast"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// WrittenMeanwhile returns a write in sight that can change the object on the server after it was read and before the finding's
// status write, and that leaves the object in memory as it was. A lock on the object's version would fail every time. A write for
// which settles returns true does not count: it changes nothing when it is made again.
func WrittenMeanwhile(t *object.Tracker, f *class.Finding, settles func(in *flow.Func, call *ast.CallExpr) bool) (pos token.Pos, why string, found bool) {
	s := &safety{tracker: t, definite: true, settles: settles}
	if d := s.freshUntil(f); d != nil {
		return d.pos, d.why, true
	}
	return token.NoPos, "", false
}

// isItsOwn reports whether an expression is an object that the function has for itself: a variable that it reads or copies into, or
// an item of a list. What it was given, or finds in a field, may be the very object that somebody else reads back into.
func isItsOwn(f *flow.Func, e ast.Expr) bool {
	for range 6 {
		switch x := ast.Unparen(e).(type) {
		case *ast.UnaryExpr:
			e = x.X
			continue
		case *ast.TypeAssertExpr:
			e = x.X
			continue
		case *ast.IndexExpr:
			return true
		case *ast.CallExpr:
			return kube.IsCopy(f.Pkg.Callee(x))
		case *ast.CompositeLit:
			return true
		case *ast.Ident:
			next, own := definedAs(f, x)
			if next == nil {
				return own
			}
			e = next
			continue
		}
		return false
	}
	return false
}

// definedAs is what a local variable is another name for; own is true if it is none, but an object of its own.
func definedAs(f *flow.Func, id *ast.Ident) (next ast.Expr, own bool) {
	v := f.Pkg.Var(id)
	if v == nil {
		return nil, false
	}
	owner := f.Pkg.Owner(v)
	if owner == nil {
		return nil, false
	}
	if _, param := owner.ParamIndex(v); param {
		return nil, false
	}
	for _, d := range owner.AllDefs(v) {
		switch x := d.Rhs.(type) {
		case nil, *ast.CompositeLit:
		case *ast.CallExpr:
			if _, isObject := ast.Unparen(x.Fun).(*ast.Ident); !isObject && !kube.IsCopy(f.Pkg.Callee(x)) && len(f.Pkg.Callees(x)) == 0 {
				return nil, false // a getter out of sight
			}
		default:
			if !d.Range {
				return d.Rhs, false
			}
		}
	}
	return nil, true
}
