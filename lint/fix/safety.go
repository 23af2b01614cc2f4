package fix

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/lint/class"
	"github.com/statuspatcher/statuspatcher/lint/errflow"
	"github.com/statuspatcher/statuspatcher/lint/flow"
	"github.com/statuspatcher/statuspatcher/lint/kube"
	"github.com/statuspatcher/statuspatcher/lint/object"
)

// safety answers whether anything can write an object between its read and its status write. What was not seen to be
// harmless counts as a write.
type safety struct {
	tracker *object.Tracker
	busy    map[*flow.Func]bool
	kind    types.Type             // of the object in question
	keys    []string               // paths of what it is read by
	ignore  map[*ast.CallExpr]bool // writes that the fix moves, too
}

// freshUntil: the object was read in sight, in this function or in every caller, and nothing can write it from there to
// the status write.
func (s *safety) freshUntil(f *class.Finding) bool {
	obj := f.Site.Object()
	if obj == nil {
		return false
	}
	path := f.Fn.Path(obj)
	if path == "" {
		return false
	}
	s.kind, s.keys = f.Kind, nil
	return s.fresh(f.Fn, f.Site.Node, path, 0)
}

const maxCallers = 3

// fresh walks back from node to every read of the object; no way may lead to the function's entry without one, unless
// the object is a parameter that is fresh at every call.
func (s *safety) fresh(f *flow.Func, node ast.Node, path string, depth int) bool {
	s.keys = append(s.keys, s.keysOf(f, path)...)
	ok, entry := true, false
	at := f.At(node)
	if !at.Valid() {
		return false
	}
	if f.Lit != nil && !f.RunsInPlace() {
		// A deferred or kept function runs after all that comes later, too.
		if !s.quietAfter(f.Outer, f.Lit, path) {
			return false
		}
	}
	entry = f.WalkBack(at, func(p flow.Point) bool {
		n := p.Node()
		if p == at {
			ok = false // in a loop: the write before this one is a write
			return false
		}
		if s.reads(f, n, path) {
			return false
		}
		if s.mayWrite(f, n, path) {
			ok = false
		}
		return ok
	})
	if !ok {
		return false
	}
	if !entry {
		return true
	}
	if f.Lit != nil && f.Outer != nil {
		return s.fresh(f.Outer, f.Lit, path, depth)
	}
	return s.freshInCallers(f, path, depth)
}

func (s *safety) freshInCallers(f *flow.Func, path string, depth int) bool {
	calls := f.CallsSeen()
	if depth > maxCallers || len(calls) == 0 || f.UsedAsValue() || f.Obj != nil && f.Obj.Exported() {
		return false
	}
	sig := f.Signature()
	for i := range sig.Params().Len() {
		if v := f.Param(i); v == nil || flow.VarPath(v) != path {
			continue
		}
		for _, c := range calls {
			arg := f.Argument(i, c.Expr)
			if arg == nil {
				return false
			}
			p := c.In.Path(arg)
			if p == "" || !s.fresh(c.In, c.Expr, p, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// keysOf are the paths of the keys under which the object is read around f.
func (s *safety) keysOf(f *flow.Func, path string) []string {
	var out []string
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if into, _ := kube.IsGet(f.Pkg.Callee(call)); into && len(call.Args) > 2 && f.Path(call.Args[2]) == path {
			if p := f.Path(call.Args[1]); p != "" {
				out = append(out, p)
			}
		}
		return true
	})
	return out
}

// quietAfter: from the place of a literal to the end of the function around it nothing can write the object.
func (s *safety) quietAfter(outer *flow.Func, lit *ast.FuncLit, path string) bool {
	quiet := true
	outer.Walk(outer.At(lit), func(p flow.Point) bool {
		quiet = quiet && !s.mayWrite(outer, p.Node(), path)
		return quiet
	})
	return quiet
}

// reads: the node makes the object in memory what the server has.
func (s *safety) reads(f *flow.Func, n ast.Node, path string) bool {
	for _, ev := range s.tracker.Events(f, n) {
		if ev.Kind == object.Read && ev.Path == path && ev.In == f {
			into, _ := kube.IsGet(f.Pkg.Callee(ev.Call))
			return into
		}
	}
	return false
}

// mayWrite: a call in the node writes the object, or gets a client together with it or its key and was not seen not to.
func (s *safety) mayWrite(f *flow.Func, n ast.Node, path string) bool {
	for _, ev := range s.tracker.Events(f, n) {
		if ev.Kind == object.Write && !s.ignore[ev.Call] && (flow.Within(ev.Path, path) || s.sameKind(ev)) {
			return true
		}
	}
	may := false
	ast.Inspect(n, func(c ast.Node) bool {
		if call, ok := c.(*ast.CallExpr); ok && !may {
			may = s.callMayWrite(f, call, path)
		}
		return !may
	})
	return may
}

// sameKind: another variable of the same kind can be the same object on the server.
func (s *safety) sameKind(ev object.Event) bool {
	if s.kind == nil || ev.Obj == nil {
		return true
	}
	t := ev.In.Pkg.TypeOf(ev.Obj)
	return t == nil || types.IsInterface(t) || kube.Named(t) == nil || kube.Named(s.kind) == nil || kube.Named(t).Obj() == kube.Named(s.kind).Obj()
}

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
	if fn == nil {
		return true // a function value
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
	return kube.HoldsClient(t) || types.IsInterface(t) && !kube.IsObject(t) && !standard(fn)
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
