package class

import (
	"go/ast"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// retryAround is the RetryOnConflict around a call, in this function or around a call of it, unless the retry holds
// another write that can conflict.
func (c *Classifier) retryAround(f *flow.Func, call *ast.CallExpr, depth int) token.Pos {
	for _, a := range attemptsAround(f, call) {
		if pos := runBy(a.runs, retries); pos.IsValid() && !c.otherConflicts(a.lit, call) {
			return pos
		}
	}
	if depth > limits.RetryCallers || f.Outermost().Obj == nil {
		return token.NoPos
	}
	if pos := runBy(runByName(f.Outermost()), retries); pos.IsValid() {
		return pos
	}
	if !c.returnsErrorOf(f, call) {
		return token.NoPos
	}
	for _, up := range c.calls.Of(f.Outermost()) {
		if up.In.Outermost() == f.Outermost() {
			continue
		}
		if pos := c.retryAround(up.In, up.Expr, depth+1); pos.IsValid() {
			return pos
		}
	}
	return token.NoPos
}

// returnsErrorOf: the function hands the call's error to its caller.
func (c *Classifier) returnsErrorOf(f *flow.Func, call *ast.CallExpr) bool {
	return c.follower().Follow(f, call).Returned
}

// otherConflicts: beside the write, the retry holds another one that can conflict.
func (c *Classifier) otherConflicts(lit *flow.Func, call *ast.CallExpr) bool {
	other := false
	ast.Inspect(lit.Body(), func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok || x == call || other {
			return !other
		}
		switch w, verb := kube.Kind(lit.Pkg.Callee(x)); {
		case w == kube.NoWriter:
			for _, d := range lit.Pkg.Callees(x) {
				other = other || !within(d, call) && c.mayConflict(d, call, 0)
			}
		case verb == kube.Update:
			other = true
		case verb == kube.Patch && w != kube.CreateOrPatch:
			if s := c.sites[x]; s != nil && s.Patch() != nil {
				g := &Finding{Site: s, Fn: s.Fn}
				for _, v := range flow.Trace(s.Patch(), c.frame(s.Fn), nil) {
					if m, ok := v.Expr.(*ast.CallExpr); ok {
						if locked, _ := lockOf(m, v.Frame); locked {
							g.Class = Locked
						}
					}
				}
				other = g.Class == Locked
			}
		}
		return !other
	})
	return other
}

func within(f *flow.Func, call *ast.CallExpr) bool {
	return f.Node().Pos() <= call.Pos() && call.End() <= f.Node().End()
}

// mayConflict: a function that the retry calls updates something.
func (c *Classifier) mayConflict(d *flow.Func, call *ast.CallExpr, depth int) bool {
	found := false
	d.EachCall(d.Body(), func(x *ast.CallExpr) {
		if found || x == call {
			return
		}
		w, verb := kube.Kind(d.Pkg.Callee(x))
		found = w != kube.NoWriter && verb == kube.Update
		if w == kube.NoWriter && depth < limits.LookedInto {
			for _, next := range d.Pkg.Callees(x) {
				found = found || next != d && c.mayConflict(next, call, depth+1)
			}
		}
	})
	return found
}
