package fix

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// safety decides whether anything can write an object between its read and its status write. Whatever cannot be followed
// counts as a write: calls of code that is not in sight, stored function values, goroutines, other Go types for the kind.
type safety struct {
	tracker *object.Tracker
	// definite counts only writes that are in sight, and none that only could be there.
	definite bool
	// settles reports whether a write changes nothing when it is made again; set if definite is.
	settles func(in *flow.Func, call *ast.CallExpr) bool
}

const notRead = "where the object was read cannot be seen, and a lock on an old version conflicts forever"

// freshUntil is nil if the object was read in sight, in this function or in every caller, and nothing can write it from
// there to the status write.
func (s *safety) freshUntil(f *class.Finding) *doubt {
	obj := f.Site.Object()
	if obj == nil || f.Fn.Path(obj) == "" {
		return s.open(doubtAt(f.Site.Node, notRead))
	}
	return s.fresh(f.Fn, f.Site.Node, subject{path: f.Fn.Path(obj), kind: f.Kind}, 0)
}

// fresh walks back from node to every read of the object; no way may lead to the function's entry without one, unless
// the object is a parameter that is fresh at every call.
func (s *safety) fresh(f *flow.Func, node ast.Node, sub subject, depth int) *doubt {
	sub.keys = append(sub.keys[:len(sub.keys):len(sub.keys)], keysOf(f, sub.path)...)
	at := f.At(node)
	if !at.Valid() {
		return s.open(doubtAt(node, notRead))
	}
	w := s.writes(sub, f)
	if d := w.meanwhile(f, node); d != nil {
		return d
	}
	calls := f.CalledAt()
	if f.Lit != nil && f.Outer != nil && !f.RunsInPlace() && calls == nil {
		// A deferred or stored function runs after all that comes later, too.
		if d := w.after(f.Outer, f.Lit); d != nil {
			return d
		}
	}
	items := itemOf(f, node, sub.path)
	originals := map[ast.Node]string{}
	var found *doubt
	entry := f.WalkBack(at, func(p flow.Point) bool {
		n := p.Node()
		switch {
		case found != nil, items != nil && (n.Pos() < items.Body.Pos() || n.Pos() >= at.Node().Pos()):
			return false // an earlier turn of the loop is for another item
		case p == at:
			found = s.open(doubtAt(n, "the write is in a loop, and the one before it changes the object"))
			return false
		case s.reads(f, n, sub.path):
			return false
		}
		if from := copiedFrom(f, n, sub.path); from != "" {
			originals[n] = from
			return false
		}
		found = w.at(f, n)
		return found == nil
	})
	for n, from := range originals {
		if found == nil {
			found = s.fresh(f, n, sub.in(from), depth)
		}
	}
	switch {
	case found != nil:
		return found
	case items != nil:
		return s.listFresh(f, items, sub)
	case !entry:
		return nil
	case calls != nil:
		for _, call := range calls {
			if d := s.fresh(f.Outer, call, sub, depth); d != nil {
				return d
			}
		}
		return nil
	case f.Lit != nil && f.Outer != nil:
		return s.fresh(f.Outer, f.Lit, sub, depth)
	}
	return s.freshInCallers(f, node, sub, depth)
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

func (s *safety) freshInCallers(f *flow.Func, node ast.Node, sub subject, depth int) *doubt {
	calls, sig := f.CallsSeen(), f.Signature()
	switch {
	case depth > limits.FreshCallers || len(calls) == 0 || sig == nil:
		return s.open(doubtAt(node, notRead))
	case s.definite:
	case f.UsedAsValue():
		return doubtAt(f.Node(), f.Name()+" is used as a value, so not all its callers can be seen")
	case f.Obj != nil && f.Obj.Exported():
		return doubtAt(f.Node(), f.Name()+" is exported, so not all its callers can be seen")
	}
	for i := range sig.Params().Len() {
		v := f.Param(i)
		if v == nil || flow.VarPath(v) != sub.path {
			continue
		}
		for _, c := range calls {
			arg := f.Argument(i, c.Expr)
			if arg == nil || c.In.Path(arg) == "" {
				if s.definite {
					continue
				}
				return doubtAt(c.Expr, "which object this call hands over cannot be seen")
			}
			up := subject{path: c.In.Path(arg), kind: sub.kind}
			if d := s.fresh(c.In, c.Expr, up, depth+1); d != nil {
				return d
			}
		}
		return nil
	}
	return s.open(doubtAt(node, notRead))
}

// open is a doubt about what cannot be seen.
func (s *safety) open(d *doubt) *doubt {
	if s.definite {
		return nil
	}
	return d
}

// keysOf are the paths of the keys under which the object is read around f.
func keysOf(f *flow.Func, path string) []string {
	var out []string
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if into, _ := kube.IsGet(f.Pkg.Callee(call)); into && len(call.Args) > 2 && f.Path(call.Args[2]) == path {
			ast.Inspect(call.Args[1], func(n ast.Node) bool {
				if e, isExpr := n.(ast.Expr); isExpr {
					if p := f.Path(e); p != "" && p != path {
						out = append(out, p)
						return false
					}
				}
				return true
			})
		}
		return true
	})
	return out
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

// inPlace: the client writes the object itself, and decodes the response into it.
func inPlace(f *flow.Func, ev object.Event, path string) bool {
	if ev.In != f || ev.Path != path || ev.Call != ev.At {
		return false
	}
	switch w, verb := kube.Kind(f.Pkg.Callee(ev.Call)); w {
	case kube.Main, kube.SubResource:
		return verb == kube.Update || verb == kube.Patch && len(ev.Call.Args) > 2 && !object.IsApply(f, ev.Call.Args[2])
	}
	return false
}
