package class

import (
	"go/ast"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// A body is what a call runs, with the name that the object has there.
type body struct {
	fn   *flow.Func
	name string // path of the parameter that gets the object
	call *ast.CallExpr

	status bool // it gets the object's status instead
}

// bodies are what a call that gets the object runs: a function in sight, or the literals that callers hand in as the
// function value that is called.
func bodies(f *flow.Func, call *ast.CallExpr, paths []string) []body {
	fns := f.Pkg.DeclsOf(call)
	if len(fns) == 0 && f.Pkg.Callee(call) == nil {
		fns, _ = f.FuncValues(call.Fun)
	}
	var out []body
	for _, d := range fns {
		if d.Signature() == nil || d.Body() == nil {
			continue
		}
		for i := range d.Signature().Params().Len() {
			v, arg := d.Param(i), d.Argument(i, call)
			if v == nil || arg == nil {
				continue
			}
			if contains(paths, f.Path(arg)) {
				out = append(out, body{fn: d, name: flow.VarPath(v), call: call})
			} else if isStatusOf(f, arg, paths) {
				out = append(out, body{fn: d, name: flow.VarPath(v), call: call, status: true})
			}
		}
	}
	return out
}

// assigned is the value that a node of the body gives to the object's whole status.
func (b body) assigned(n ast.Node) ast.Expr {
	if !b.status {
		return assignsStatus(b.fn, n, []string{b.name})
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			star, ok := ast.Unparen(lhs).(*ast.StarExpr)
			if ok && n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) && b.fn.Path(star.X) == b.name {
				return n.Rhs[i]
			}
		}
	case *ast.CallExpr:
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "DeepCopyInto" && len(n.Args) == 1 && b.fn.Path(n.Args[0]) == b.name {
			return sel.X
		}
	}
	return nil
}

// older is the older object whose status the body puts onto the one that it got: another argument of the call, or a
// variable from around a literal.
func (c *Classifier) older(f *flow.Func, b body, at flow.Point, paths []string) ast.Node {
	var found ast.Node
	ast.Inspect(b.fn.Body(), func(n ast.Node) bool {
		value := b.assigned(n)
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
