package class

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// ownPatch is a value of a type of the program's own that implements client.Patch: what its Data method returns is sent,
// as what its Type method says.
func (c *Classifier) ownPatch(g *Finding, v flow.Value) bool {
	pkg := v.Frame.Fn.Pkg
	t := pkg.TypeOf(v.Expr)
	data, kind := pkg.Program().Decl(kube.Method(t, "Data")), pkg.Program().Decl(kube.Method(t, "Type"))
	if data == nil || kind == nil || data.Body() == nil || kind.Body() == nil {
		return false
	}
	patchType := ""
	kind.EachReturn(func(ret *ast.ReturnStmt) {
		if len(ret.Results) == 1 {
			patchType, _ = site.Constant(ret.Results[0], kind)
		}
	})
	worst := &Finding{Site: g.Site, Fn: g.Fn}
	data.EachReturn(func(ret *ast.ReturnStmt) {
		if len(ret.Results) == 0 || isNilExpr(ret.Results[0]) {
			return
		}
		body, fr := ret.Results[0], &flow.Frame{Fn: data}
		if held := heldBy(data, body, v); held != nil {
			body, fr = held, v.Frame
		}
		part := &Finding{Site: g.Site, Fn: g.Fn}
		c.rawBytes(part, patchType, body, fr)
		worst.worse(part)
	})
	if worst.Class == "" {
		return false
	}
	g.worse(worst)
	return true
}

// heldBy is what the value holds of the receiver's that a method returns: a field, or, of a converted value, itself.
func heldBy(method *flow.Func, result ast.Expr, v flow.Value) ast.Expr {
	recv := method.Param(-1)
	result = ast.Unparen(result)
	switch x := v.Expr.(type) {
	case *ast.CallExpr:
		if rootVar(method.Pkg, converted(method.Pkg, result)) == recv {
			return x.Args[0]
		}
	case *ast.CompositeLit:
		sel, ok := result.(*ast.SelectorExpr)
		if ok && method.Pkg.Var(sel.X) == recv {
			return element(v.Frame.Fn.Pkg, x, sel.Sel.Name)
		}
	}
	return nil
}

// converted is what a conversion converts.
func converted(pkg *flow.Package, e ast.Expr) ast.Expr {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 {
		if tv := pkg.Info.Types[call.Fun]; tv.IsType() {
			return call.Args[0]
		}
	}
	return e
}

// element is what a struct literal gives a field.
func element(pkg *flow.Package, lit *ast.CompositeLit, field string) ast.Expr {
	n := kube.Named(pkg.TypeOf(lit))
	if n == nil {
		return nil
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i, e := range lit.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		if !keyed {
			if i < s.NumFields() && s.Field(i).Name() == field {
				return e
			}
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
			return kv.Value
		}
	}
	return nil
}

// convertsToPatch ends a trace at a conversion to a type that implements client.Patch: behind it is only what it holds.
func convertsToPatch(e ast.Expr, fr *flow.Frame) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	tv := fr.Fn.Pkg.Info.Types[call.Fun]
	return tv.IsType() && !types.IsInterface(tv.Type) && kube.HasMethod(tv.Type, "Data") && !kube.HasMethod(fr.Fn.Pkg.TypeOf(call.Args[0]), "Data")
}
