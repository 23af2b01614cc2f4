package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// A place is an object as one function names it.
type place struct {
	fn   *flow.Func
	path string
}

// copied returns what a DeepCopy copies.
func copied(pkg *flow.Package, e ast.Expr) (of ast.Expr, ok bool) {
	call, isCall := ast.Unparen(e).(*ast.CallExpr)
	if !isCall || !kube.IsCopy(pkg.Callee(call)) {
		return nil, false
	}
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel {
		return nil, false
	}
	return sel.X, true
}

// A copying is a DeepCopy that an object comes from: where it is made, and of what.
type copying struct {
	node ast.Node
	of   place
}

// originOf follows an object through the copies that its variable is defined by. It returns the object that was read, as f
// names it, and the copies on the way.
func originOf(f *flow.Func, e ast.Expr) (origin place, copies []copying) {
	for range 6 {
		e = bare(e)
		if of, ok := copied(f.Pkg, e); ok {
			copies = append(copies, copying{e, place{f, f.Path(of)}})
			e = of
			continue
		}
		rhs := onlyValue(f.Pkg, e)
		if rhs == nil {
			break
		}
		of, ok := copied(f.Pkg, bare(rhs))
		if !ok {
			break
		}
		copies = append(copies, copying{rhs, place{f.Pkg.Owner(f.Pkg.Var(e)), f.Path(of)}})
		e = of
	}
	return place{f, f.Path(e)}, copies
}

// bare is an expression without parentheses, address operators and type assertions.
func bare(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return e
			}
			e = x.X
		default:
			return e
		}
	}
}

// onlyValue is the one value that a local variable ever gets; nil otherwise.
func onlyValue(pkg *flow.Package, e ast.Expr) ast.Expr {
	v := pkg.Var(e)
	if v == nil || pkg.Owner(v) == nil {
		return nil
	}
	defs := pkg.Owner(v).AllDefs(v)
	if len(defs) != 1 || defs[0].Rhs == nil || defs[0].Range || defs[0].Index > 0 {
		return nil
	}
	if _, param := pkg.Owner(v).ParamIndex(v); param {
		return nil
	}
	return defs[0].Rhs
}

// lifted gives the names that a place of the innermost function of a chain of frames has in the outermost one. The frames lead
// from a caller down to the function, as flow.Trace leaves them.
func lifted(fr *flow.Frame, in place) (place, bool) {
	var chain []*flow.Frame
	for p := fr; p != nil; p = p.Below {
		chain = append(chain, p)
	}
	for i := len(chain) - 2; i >= 0; i-- {
		up := chain[i]
		call, isCall := up.Site.(*ast.CallExpr)
		if !isCall || rootedIn(chain[i+1].Fn, in.path) == "" {
			in = place{up.Fn, in.path} // a literal shares the variables around it
			continue
		}
		path, ok := handedOver(chain[i+1].Fn, call, up.Fn, in.path)
		if !ok {
			return place{}, false
		}
		in = place{up.Fn, path}
	}
	return in, in.path != ""
}

// lowered gives the name that a place of a function has where the call stands that entered it.
func lowered(fr *flow.Frame, in place) (*flow.Frame, place, bool) {
	for fr.Parent != nil {
		path, ok := handedOver(fr.Fn, fr.Call, fr.Parent.Fn, in.path)
		if !ok {
			return nil, place{}, false
		}
		fr, in = fr.Parent, place{fr.Parent.Fn, path}
	}
	return fr, in, true
}

// handedOver is the path that an argument of a call has in the calling function.
func handedOver(callee *flow.Func, call *ast.CallExpr, caller *flow.Func, path string) (string, bool) {
	sig := callee.Signature()
	if sig == nil {
		return "", false
	}
	for i := -1; i < sig.Params().Len(); i++ {
		v := callee.Param(i)
		if v == nil || !flow.Within(path, flow.VarPath(v)) {
			continue
		}
		arg := callee.Argument(i, call)
		if arg == nil || caller.Path(arg) == "" {
			return "", false
		}
		return caller.Path(arg) + strings.TrimPrefix(path, flow.VarPath(v)), true
	}
	return "", false
}

// rootedIn is the parameter of f that a path starts at; empty if it starts elsewhere.
func rootedIn(f *flow.Func, path string) string {
	sig := f.Signature()
	if sig == nil {
		return ""
	}
	for i := -1; i < sig.Params().Len(); i++ {
		if v := f.Param(i); v != nil && v.Name() != "" && v.Name() != "_" && flow.Within(path, flow.VarPath(v)) {
			return flow.VarPath(v)
		}
	}
	return ""
}

// rootVar is the variable at the root of an expression.
func rootVar(pkg *flow.Package, e ast.Expr) *types.Var {
	for {
		switch x := bare(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			return pkg.Var(x)
		default:
			return nil
		}
	}
}
