package errflow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// truth says whether a condition can be true and whether it can be false when the error is a conflict (or, on the way
// that probes for success, when it is nil).
func (w *walk) truth(cond ast.Expr, s *state) (yes, no bool) {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			y, n := w.truth(x.X, s)
			return n, y
		}
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.LOR:
			y1, n1 := w.truth(x.X, s)
			y2, n2 := w.truth(x.Y, s)
			return y1 || y2, n1 && n2
		case x.Op == token.LAND:
			y1, n1 := w.truth(x.X, s)
			y2, n2 := w.truth(x.Y, s)
			return y1 && y2, n1 || n2
		case !isNil(x.Y):
			return true, true
		}
		if !w.mentions(x.X, s) {
			v := w.f.Pkg.Var(x.X)
			if v != nil && s.nonNil[v] {
				return x.Op == token.NEQ, x.Op == token.EQL
			}
			break
		}
		isError := (x.Op == token.NEQ) != w.probing
		return isError, !isError
	case *ast.CallExpr:
		return w.check(x, s)
	case *ast.Ident:
		if v := w.f.Pkg.Var(x); v != nil && s.no[v] {
			return false, true
		}
	}
	return true, true
}

// check is a call as a condition: the tests of apierrors have known answers.
func (w *walk) check(call *ast.CallExpr, s *state) (yes, no bool) {
	fn := w.f.Pkg.Callee(call)
	mentioned := false
	for _, a := range call.Args {
		mentioned = mentioned || w.mentions(a, s)
	}
	if !mentioned {
		return true, true
	}
	switch {
	case kube.IsConflictCheck(fn):
		if !w.out.Tested.IsValid() && !w.probing {
			w.out.Tested = call.Pos()
		}
		return !w.probing, w.probing
	case kube.IsOtherReasonCheck(fn):
		return false, true
	case kube.IsFunc(fn, "errors", "Is") && len(call.Args) == 2 && w.mentions(call.Args[0], s):
		return false, true
	case kube.IsFunc(fn, "errors", "As") && len(call.Args) == 2 && !pointsToAPIStatus(w.f.Pkg.TypeOf(call.Args[1])):
		return false, true
	}
	// A function of the program that asks for a conflict.
	for _, d := range w.f.Pkg.Callees(call) {
		if asksConflict(d) && !w.probing && !w.out.Tested.IsValid() {
			w.out.Tested = call.Pos()
		}
	}
	return true, true
}

func pointsToAPIStatus(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		return isAPIStatus(p.Elem())
	}
	return true
}

// asksConflict: a function that answers whether its error is a conflict, and not whether it is one of several things.
func asksConflict(d *flow.Func) bool {
	sig := d.Signature()
	if sig == nil || sig.Results().Len() != 1 || sig.Results().At(0).Type().String() != "bool" {
		return false
	}
	asks, others := false, false
	d.EachCall(d.Body(), func(c *ast.CallExpr) {
		fn := d.Pkg.Callee(c)
		asks = asks || kube.IsConflictCheck(fn)
		others = others || kube.IsOtherReasonCheck(fn)
	})
	return asks && !others
}
