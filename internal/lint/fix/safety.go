package fix

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// safety answers whether anything can write an object between its read and its status write. What was not seen to be
// harmless counts as a write.
type safety struct {
	tracker *object.Tracker
	busy    map[*flow.Func]bool
	kind    types.Type             // of the object in question
	keys    []string               // paths of what it is read by
	ignore  map[*ast.CallExpr]bool // writes that the fix moves, too
	others  string                 // path of a list's item: here it stands for the other items, which are other objects
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
	items := itemOf(f, node, path)
	originals := map[ast.Node]string{}
	entry = f.WalkBack(at, func(p flow.Point) bool {
		n := p.Node()
		if items != nil && (n.Pos() < items.Body.Pos() || n.Pos() >= at.Node().Pos()) {
			return false // an earlier turn of the loop, for another item
		}
		if p == at {
			ok = false // in a loop: the write before this one is a write
			return false
		}
		if s.reads(f, n, path) {
			return false
		}
		if from := copiedFrom(f, n, path); from != "" {
			originals[n] = from
			return false
		}
		if s.mayWrite(f, n, path) {
			ok = false
		}
		return ok
	})
	for n, from := range originals {
		ok = ok && s.fresh(f, n, from, depth)
	}
	if !ok {
		return false
	}
	if items != nil {
		return s.listFresh(f, items, path)
	}
	if !entry {
		return true
	}
	if f.Lit != nil && f.Outer != nil {
		return s.fresh(f.Outer, f.Lit, path, depth)
	}
	return s.freshInCallers(f, path, depth)
}

// copiedFrom is the object that the node makes the one at path a copy of: it is as fresh as that.
func copiedFrom(f *flow.Func, n ast.Node, path string) string {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || f.Path(a.Lhs[0]) != path {
		return ""
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || !kube.IsCopy(f.Pkg.Callee(call)) {
		return ""
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	return f.Path(sel.X)
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
		if ev.Kind == object.Write && !s.ignore[ev.Call] && !s.refreshes(f, ev, path) && !s.other(ev.Path) && (flow.Within(ev.Path, path) || s.sameKind(ev)) {
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

// refreshes: a write after which the object in memory is again what the server has, so that a lock on it holds. A base
// that was captured before it is another matter: that is the class stale-base. Behind a patcher's back it is none.
func (s *safety) refreshes(f *flow.Func, ev object.Event, path string) bool {
	return s.ignore == nil && inPlace(f, ev, path)
}

// inPlace: the client writes the object itself, and decodes the answer into it.
func inPlace(f *flow.Func, ev object.Event, path string) bool {
	if ev.In != f || ev.Path != path || ev.Call != ev.At {
		return false
	}
	switch w, verb := kube.Kind(f.Pkg.Callee(ev.Call)); w {
	case kube.Main, kube.SubResource:
		return verb == kube.Update || verb == kube.Patch
	}
	return false
}

// sameKind: another variable of the same kind can be the same object on the server.
func (s *safety) sameKind(ev object.Event) bool {
	if s.kind == nil || ev.Obj == nil {
		return true
	}
	t := ev.In.Pkg.TypeOf(ev.Obj)
	return t == nil || types.IsInterface(t) || kube.Named(t) == nil || kube.Named(s.kind) == nil || kube.Named(t).Obj() == kube.Named(s.kind).Obj()
}
