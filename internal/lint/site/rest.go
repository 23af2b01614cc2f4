package site

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// request is what a chain of calls on a REST client asks for: c.Patch(type).Resource(...).SubResource("status").Body(b).
type request struct {
	verb      kube.Verb
	patchType ast.Expr
	body      ast.Expr
	sub       string
}

// restRequest reads the chain before the Do of a raw request; ok is false where it does not write a subresource.
func restRequest(f *flow.Func, do *ast.CallExpr) (r request, ok bool) {
	sel, isSel := ast.Unparen(do.Fun).(*ast.SelectorExpr)
	if !isSel {
		return r, false
	}
	for e := sel.X; ; {
		call := chained(f, e)
		if call == nil {
			return r, false
		}
		on, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		fn := f.Pkg.Callee(call)
		if !isSel || fn == nil {
			return r, false
		}
		if kube.IsRESTRequest(f.Pkg.TypeOf(on.X)) {
			r.step(f, fn, call)
			e = on.X
			continue
		}
		return r.start(f, fn, call)
	}
}

// chained is the call that an expression is, or that the variable holds which it is.
func chained(f *flow.Func, e ast.Expr) *ast.CallExpr {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return call
	}
	for _, v := range flow.Trace(e, &flow.Frame{Fn: f}, nil) {
		if call, ok := v.Expr.(*ast.CallExpr); ok && v.Frame.Fn == f {
			return call
		}
	}
	return nil
}

func (r *request) step(f *flow.Func, fn *types.Func, call *ast.CallExpr) {
	switch fn.Name() {
	case "Body":
		if len(call.Args) == 1 && r.body == nil {
			r.body = call.Args[0]
		}
	case "SubResource", "Suffix", "AbsPath", "RequestURI":
		for _, a := range call.Args {
			name, _ := Constant(a, f)
			parts := strings.Split(strings.Trim(name, "/"), "/")
			if last := parts[len(parts)-1]; r.sub == "" && (fn.Name() == "SubResource" || last == "status") {
				r.sub = last
			}
		}
	}
}

// start is the method of the client that the chain begins with.
func (r request) start(f *flow.Func, fn *types.Func, call *ast.CallExpr) (request, bool) {
	switch name := fn.Name(); name {
	case "Put":
		r.verb = kube.Update
	case "Patch":
		r.verb = kube.Patch
		if len(call.Args) == 1 {
			r.patchType = call.Args[0]
		}
	case "Verb":
		if len(call.Args) != 1 {
			return r, false
		}
		switch verb, _ := Constant(call.Args[0], f); verb {
		case "PUT":
			r.verb = kube.Update
		case "PATCH":
			r.verb = kube.Patch
		default:
			return r, false
		}
	default:
		return r, false
	}
	return r, r.sub != ""
}
