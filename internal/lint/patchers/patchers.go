// Package patchers follows generated patchers through a function: a status that changed and is never flushed, and
// writes or reads of the object behind the patcher's back.
package patchers

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Find reports what is wrong with the patchers of a function.
func Find(f *flow.Func, t *object.Tracker) []*class.Finding {
	var out []*class.Finding
	for _, h := range held(f) {
		if h.passedOn() {
			continue
		}
		if u := h.unflushed(t); u != nil {
			out = append(out, u)
		}
		out = append(out, h.clearedEarly()...)
		out = append(out, h.behind(t)...)
	}
	return out
}

// handle is a patcher in a local variable.
type handle struct {
	f       *flow.Func
	call    *ast.CallExpr // Fetch or For
	patcher *types.Var
	object  string // path of the object
}

// held are the patchers that f gets into variables of its own.
func held(f *flow.Func) []*handle {
	var out []*handle
	if f.Body() == nil {
		return nil
	}
	ast.Inspect(f.Body(), func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && f.Pkg.FuncAt(lit) != f {
			return false
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || !onPatcherType(f.Pkg, call, "Fetch", "For") {
			return true
		}
		h := &handle{f: f, call: call}
		for _, lhs := range a.Lhs {
			v := f.Pkg.Var(lhs)
			if v == nil {
				continue
			}
			if p, _ := kube.GeneratedPatcher(v.Type()); p {
				h.patcher = v
			} else if kube.IsObject(v.Type()) {
				h.object = flow.VarPath(v)
			}
		}
		if calleeName(call) == "For" && len(call.Args) == 1 {
			h.object = f.Path(call.Args[0])
		}
		if h.patcher != nil && f.Pkg.Owner(h.patcher) == f {
			out = append(out, h)
		}
		return true
	})
	return out
}

func calleeName(call *ast.CallExpr) string {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return sel.Sel.Name
	}
	return ""
}

// onPatcherType reports whether call is a method of a generated patcher or its client with one of the names.
func onPatcherType(pkg *flow.Package, call *ast.CallExpr, names ...string) bool {
	fn := pkg.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	if p, c := kube.GeneratedPatcher(fn.Signature().Recv().Type()); !p && !c {
		return false
	}
	for _, n := range names {
		if fn.Name() == n {
			return true
		}
	}
	return false
}

// passedOn: the patcher is used other than by calling its methods, so others may flush it.
func (h *handle) passedOn() bool {
	passed := false
	ast.Inspect(h.f.Outermost().Node(), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || h.f.Pkg.Info.Uses[id] != h.patcher {
			return !passed
		}
		sel, ok := h.f.Parent(id).(*ast.SelectorExpr)
		if !ok {
			if a, isAssign := h.f.Parent(id).(*ast.AssignStmt); isAssign && isLHS(a, id) {
				return true
			}
			if b, isCompare := h.f.Parent(id).(*ast.BinaryExpr); isCompare && (b.Op == token.EQL || b.Op == token.NEQ) {
				return true
			}
			passed = true
			return false
		}
		if call, ok := h.f.Parent(sel).(*ast.CallExpr); !ok || ast.Unparen(call.Fun) != ast.Expr(sel) {
			passed = true // a method value
		}
		return !passed
	})
	return passed
}

func isLHS(a *ast.AssignStmt, id *ast.Ident) bool {
	for _, lhs := range a.Lhs {
		if lhs == ast.Expr(id) {
			return true
		}
	}
	return false
}

// flushes reports whether a node sends the status: Flush, FlushWith, FlushOnReturn, Retry, in place or deferred.
func (h *handle) flushes(node ast.Node) bool {
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && (h.isMethod(call, "Flush", "FlushWith", "FlushOnReturn", "FlushOnSuccess", "Retry", "Refresh") || h.callsFlusher(call)) {
			found = true
		}
		return !found
	})
	return found
}

// callsFlusher: the call runs a literal, held in a local variable, that flushes.
func (h *handle) callsFlusher(call *ast.CallExpr) bool {
	v := h.f.Pkg.Var(call.Fun)
	if v == nil || h.f.Pkg.Owner(v) == nil {
		return false
	}
	for _, d := range h.f.Pkg.Owner(v).AllDefs(v) {
		lit, ok := d.Rhs.(*ast.FuncLit)
		if ok && h.flushes(lit.Body) {
			return true
		}
	}
	return false
}

func (h *handle) isMethod(call *ast.CallExpr, names ...string) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || h.f.Pkg.Var(sel.X) != h.patcher {
		return false
	}
	for _, n := range names {
		if sel.Sel.Name == n {
			return true
		}
	}
	return false
}

// changesStatus reports whether a node certainly changes the object's status.
func (h *handle) changesStatus(node ast.Node) bool {
	found := false
	under := func(e ast.Expr) bool {
		p := h.f.Path(e)
		return h.object != "" && flow.Within(p, h.object+".Status") || h.underObject(e)
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if _, plain := ast.Unparen(lhs).(*ast.Ident); !plain {
					found = found || under(lhs)
				}
			}
		case *ast.IncDecStmt:
			found = found || under(n.X)
		case *ast.CallExpr:
			if h.isMethod(n, "SetCondition", "RemoveCondition", "SetObservedGeneration") {
				found = true
			}
			for _, a := range n.Args {
				if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND && under(u.X) && setter(h.f.Pkg.Callee(n)) {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// underObject: an expression below p.Object().Status.
func (h *handle) underObject(e ast.Expr) bool {
	return flow.Within(h.f.Path(e), flow.VarPath(h.patcher)+".Object().Status")
}

func setter(fn *types.Func) bool {
	return fn != nil && (fn.Name() == "SetStatusCondition" || fn.Name() == "RemoveStatusCondition")
}

// unflushed: the status changes, and from there a way leads out of the function without a flush.
func (h *handle) unflushed(t *object.Tracker) *class.Finding {
	start := h.f.At(h.call)
	if !start.Valid() {
		return nil
	}
	var lost *class.Finding
	h.f.Walk(start, func(p flow.Point) bool {
		n := p.Node()
		if _, isDefer := n.(*ast.DeferStmt); isDefer && h.flushes(n) {
			return false // whatever comes after is flushed at the end
		}
		if h.flushes(n) {
			return true
		}
		if lost == nil && h.changesStatus(n) {
			lost = h.wayOut(p, t)
		}
		return lost == nil
	})
	return lost
}

// wayOut is a way from a change out of the function that passes no flush.
func (h *handle) wayOut(p flow.Point, t *object.Tracker) *class.Finding {
	if ret, ok := p.Node().(*ast.ReturnStmt); ok {
		return h.lost(p.Node(), ret)
	}
	var found *class.Finding
	h.f.Walk(p, func(q flow.Point) bool {
		n := q.Node()
		if found != nil || h.flushes(n) || h.asksChanged(n) || h.writes(n, t) {
			return false
		}
		if ret, ok := n.(*ast.ReturnStmt); ok {
			found = h.lost(p.Node(), ret)
		}
		return found == nil
	})
	return found
}

// writes: a client writes the object by hand; that is another fault.
func (h *handle) writes(n ast.Node, t *object.Tracker) bool {
	for _, ev := range t.Events(h.f, n) {
		if ev.Kind == object.Write && h.isObject(ev.Path) {
			return true
		}
	}
	return false
}

// asksChanged: a condition on Changed; where it is false there is nothing to flush.
func (h *handle) asksChanged(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(m ast.Node) bool {
		if call, ok := m.(*ast.CallExpr); ok && h.isMethod(call, "Changed") {
			found = true
		}
		return !found
	})
	return found
}

func (h *handle) lost(change ast.Node, ret *ast.ReturnStmt) *class.Finding {
	return &class.Finding{
		Fn: h.f, Pos: h.call.Pos(), End: h.call.End(), Class: class.Unflushed, Kind: h.kind(), Call: h.call,
		Reason: "the status of the fetched object changes, and a return is reached without Flush: defer FlushOnReturn, or flush before every return",
		Related: []class.Related{
			{Pos: change.Pos(), Message: "the status changes here"},
			{Pos: ret.Pos(), Message: "this return loses it"},
		},
	}
}

func (h *handle) kind() types.Type {
	t := h.f.Pkg.TypeOf(h.call)
	if tup, ok := t.(*types.Tuple); ok && kube.IsObject(tup.At(0).Type()) {
		return tup.At(0).Type()
	}
	if len(h.call.Args) == 1 {
		return h.f.Pkg.TypeOf(h.call.Args[0])
	}
	return nil
}

// behind are the reads and writes of the patcher's object by a client, between Fetch and a flush.
func (h *handle) behind(t *object.Tracker) []*class.Finding {
	var out []*class.Finding
	start := h.f.At(h.call)
	if !start.Valid() {
		return nil
	}
	deferred := false
	h.f.Walk(start, func(p flow.Point) bool {
		if d, ok := p.Node().(*ast.DeferStmt); ok && h.flushes(d) {
			deferred = true
		}
		return true
	})
	h.f.Walk(start, func(p flow.Point) bool {
		for _, ev := range t.Events(h.f, p.Node()) {
			if ev.Call == h.call || !h.isObject(ev.Path) || ev.At == nil {
				continue
			}
			if deferred || h.flushedAfter(p) {
				out = append(out, h.behindBack(ev))
			}
		}
		return true
	})
	return out
}

func (h *handle) isObject(path string) bool {
	return path != "" && (path == h.object || path == flow.VarPath(h.patcher)+".Object()")
}

func (h *handle) flushedAfter(p flow.Point) bool {
	found := false
	h.f.Walk(p, func(q flow.Point) bool {
		found = found || h.flushes(q.Node())
		return !found
	})
	return found
}

func (h *handle) behindBack(ev object.Event) *class.Finding {
	what := "is written"
	if ev.Kind == object.Read {
		what = "is read again"
	}
	return &class.Finding{
		Fn: h.f, Pos: ev.At.Pos(), End: ev.At.End(), Class: class.BehindThePatcher, Kind: h.kind(), Call: ev.At,
		Reason:  "the patcher's object " + what + " by a client between Fetch and Flush, so Flush no longer knows its base: use PatchMetadata for metadata, Refresh to read again",
		Related: []class.Related{{Pos: h.call.Pos(), Message: "the patcher is fetched here"}},
	}
}
