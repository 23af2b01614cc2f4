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
	for lit := f; lit != nil && lit.Lit != nil; lit = lit.Outer {
		outer, ok := lit.Parent(lit.Lit).(*ast.CallExpr)
		if ok && kube.IsRetry(lit.Pkg.Callee(outer)) {
			if c.otherConflicts(lit, call) {
				return token.NoPos
			}
			return outer.Pos()
		}
		if v := lit.HeldBy(); v != nil {
			if pos := c.retryOfVar(lit, call); pos.IsValid() {
				return pos
			}
		}
	}
	if depth > limits.RetryCallers || f.Outermost().Obj == nil {
		return token.NoPos
	}
	if pos := c.retryOfValue(f.Outermost()); pos.IsValid() {
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

// retryOfVar is the RetryOnConflict that is handed the variable which holds a literal.
func (c *Classifier) retryOfVar(lit *flow.Func, site *ast.CallExpr) token.Pos {
	v := lit.HeldBy()
	pos := token.NoPos
	ast.Inspect(lit.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && kube.IsRetry(lit.Pkg.Callee(call)) && len(call.Args) == 2 && lit.Pkg.Var(call.Args[1]) == v && !c.otherConflicts(lit, site) {
			pos = call.Pos()
		}
		return !pos.IsValid()
	})
	return pos
}

// retryOfValue is the RetryOnConflict that is handed a declared function by name.
func (c *Classifier) retryOfValue(f *flow.Func) token.Pos {
	if !f.UsedAsValue() {
		return token.NoPos
	}
	pos := token.NoPos
	for _, g := range f.Pkg.Funcs() {
		if g.Body() == nil || pos.IsValid() {
			continue
		}
		g.EachCall(g.Body(), func(call *ast.CallExpr) {
			if kube.IsRetry(g.Pkg.Callee(call)) && len(call.Args) == 2 {
				if fn := g.Pkg.FuncOf(call.Args[1]); fn != nil && f.Obj == fn {
					pos = call.Pos()
				}
			}
		})
	}
	return pos
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
