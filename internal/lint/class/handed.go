package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// A body is what a call runs, with the name that the object has there.
type body struct {
	fn   *flow.Func
	name string // path of the parameter that gets the object
	call *ast.CallExpr
}

// bodies are what a call that gets the object runs: a function in sight, or the literals that callers hand in as the
// function value that is called.
func bodies(f *flow.Func, call *ast.CallExpr, paths []string) []body {
	fns := f.Pkg.DeclsOf(call)
	if len(fns) == 0 {
		fns = literalsFor(f, call)
	}
	var out []body
	for _, d := range fns {
		if d.Signature() == nil || d.Body() == nil {
			continue
		}
		for i := range d.Signature().Params().Len() {
			v, arg := d.Param(i), d.Argument(i, call)
			if v != nil && arg != nil && contains(paths, f.Path(arg)) {
				out = append(out, body{d, flow.VarPath(v), call})
			}
		}
	}
	return out
}

// literalsFor are the literals that callers give for the parameter by which a call calls.
func literalsFor(f *flow.Func, call *ast.CallExpr) []*flow.Func {
	v, outer := f.Pkg.Var(call.Fun), f.Outermost()
	if v == nil || f.Pkg.Owner(v) != outer {
		return nil
	}
	i, param := outer.ParamIndex(v)
	if !param {
		return nil
	}
	var out []*flow.Func
	for _, up := range outer.CallsSeen() {
		if lit, ok := outer.Argument(i, up.Expr).(*ast.FuncLit); ok {
			out = append(out, up.In.Pkg.FuncAt(lit))
		}
	}
	return out
}

// older is the older object whose status the body puts onto the one that it got: another argument of the call, or a
// variable from around a literal.
func (c *Classifier) older(f *flow.Func, b body, at flow.Point, paths []string) ast.Node {
	var found ast.Node
	ast.Inspect(b.fn.Body(), func(n ast.Node) bool {
		value := assignsStatus(b.fn, n, []string{b.name})
		if value == nil || found != nil {
			return found == nil
		}
		sel, ok := stripCopy(b.fn, value).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Status" {
			return true
		}
		v := rootVar(b.fn.Pkg, sel.X)
		i, param := b.fn.ParamIndex(v)
		switch {
		case v == nil || b.fn.Path(sel.X) == b.name:
		case param:
			if arg := b.fn.Argument(i, b.call); arg != nil && c.olderObject(f, arg, at, paths) {
				found = n
			}
		case b.fn.Lit != nil && b.fn.Pkg.Owner(v) != b.fn:
			found = n
		}
		return true
	})
	return found
}
