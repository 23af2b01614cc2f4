package fix

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/errflow"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// callMayWrite: a call that gets the object, or its key, together with a client, and whose body was not seen to be harmless.
func (s *safety) callMayWrite(f *flow.Func, call *ast.CallExpr, path string) bool {
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return false
	}
	fn := f.Pkg.Callee(call)
	if harmless(fn) || !s.concerns(f, call, path) {
		return false
	}
	decls := f.Pkg.DeclsOf(call)
	if len(decls) == 0 {
		return s.getsClient(f, call, fn)
	}
	for _, d := range decls {
		if s.writesKind(d, 0) || !s.seenHarmless(d, f, call, path) {
			return true
		}
	}
	return false
}

// writesKind: a function writes some object of the kind, itself or in what it calls: it may be this one, read by its key.
func (s *safety) writesKind(d *flow.Func, depth int) bool {
	if depth > 4 || d.Body() == nil {
		return depth > 4
	}
	found := false
	ast.Inspect(d.Body(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || s.ignore[call] {
			return !found
		}
		w, verb := kube.Kind(d.Pkg.Callee(call))
		switch {
		case w == kube.NoWriter:
			for _, next := range d.Pkg.DeclsOf(call) {
				found = found || next != d && s.writesKind(next, depth+1)
			}
		case verb == kube.Create || verb == kube.Delete || w == kube.Generated || len(call.Args) < 2:
		default:
			found = s.sameKind(object.Event{In: d, Obj: call.Args[1]})
		}
		return !found
	})
	return found
}

// harmless: the client's own reads, and calls that only look.
func harmless(fn *types.Func) bool {
	if fn == nil {
		return false
	}
	if into, returns := kube.IsGet(fn); into || returns || kube.IsList(fn) || kube.IsCopy(fn) {
		return true
	}
	path := kube.PkgPath(fn)
	if errflow.IsLogPackage(path, fn.Name()) || path == kube.ErrorsPath || path == "errors" || path == "fmt" {
		return true
	}
	if w, _ := kube.Kind(fn); w != kube.NoWriter {
		return true // writes were looked at as events; this one is of another object
	}
	return false
}

// concerns: the call gets the object, a part of it or its key.
func (s *safety) concerns(f *flow.Func, call *ast.CallExpr, path string) bool {
	found := false
	check := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if _, lit := n.(*ast.FuncLit); lit {
				return false
			}
			if x, ok := n.(ast.Expr); ok && !found {
				p := f.Path(x)
				if s.other(p) {
					return false
				}
				found = p != "" && (flow.Within(p, path) || flow.Within(path, p) && !kube.IsContext(f.Pkg.TypeOf(x)))
				for _, key := range s.keys {
					found = found || p != "" && flow.Within(p, key)
				}
			}
			return !found
		})
	}
	for _, a := range call.Args {
		check(a)
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		check(sel.X)
	}
	return found
}

// getsClient: an unseen function has a client at hand: as an argument, in its receiver, or nobody knows.
func (s *safety) getsClient(f *flow.Func, call *ast.CallExpr, fn *types.Func) bool {
	if sig, ok := f.Pkg.TypeOf(call.Fun).Underlying().(*types.Signature); ok && fn == nil {
		return couldWrite(sig)
	}
	for _, a := range call.Args {
		if kube.HoldsClient(f.Pkg.TypeOf(a)) {
			return true
		}
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || fn.Signature().Recv() == nil {
		return false
	}
	t := f.Pkg.TypeOf(sel.X)
	return kube.HoldsClient(t) || types.IsInterface(t) && !kube.IsObject(t) && !standard(fn) && couldWrite(fn.Signature())
}

// couldWrite: what sends a request takes a context or a client, or can fail. What does none of it tells somebody.
func couldWrite(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if kube.IsContext(v.Type()) || kube.HoldsClient(v.Type()) {
			return true
		}
	}
	for v := range sig.Results().Variables() {
		if kube.IsError(v.Type()) {
			return true
		}
	}
	return false
}

func standard(fn *types.Func) bool {
	return fn.Pkg() == nil || kube.PkgPath(fn) == "context"
}

// seenHarmless: the body of a declared function neither writes the parameters that concern the object nor hands them on
// to anything that might.
func (s *safety) seenHarmless(d, f *flow.Func, call *ast.CallExpr, path string) bool {
	if s.busy[d] {
		return true // recursion adds nothing
	}
	s.busy[d] = true
	defer delete(s.busy, d)
	sig := d.Signature()
	if sig == nil {
		return false
	}
	for i := -1; i < sig.Params().Len(); i++ {
		v, arg := d.Param(i), d.Argument(i, call)
		if arg == nil || v == nil {
			continue
		}
		p := f.Path(arg)
		if p == "" || !flow.Within(p, path) && !flow.Within(path, p) {
			if i >= 0 && s.concernsExpr(f, arg, path) && kube.HoldsClient(receiverType(sig)) {
				return false // its key goes to something that holds a client
			}
			continue
		}
		if i == -1 && flow.Within(path, p) && p != path {
			continue // the object is a field of the receiver: too many do nothing with it; writes were looked at as events
		}
		below := flow.VarPath(v)
		if s.mayWrite(d, d.Body(), below) {
			return false
		}
	}
	return true
}

func receiverType(sig *types.Signature) types.Type {
	if sig.Recv() == nil {
		return nil
	}
	return sig.Recv().Type()
}

func (s *safety) concernsExpr(f *flow.Func, e ast.Expr, path string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && !found {
			found = flow.Within(f.Path(x), path)
		}
		return !found
	})
	return found
}
