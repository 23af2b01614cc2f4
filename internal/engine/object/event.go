// Package object follows API objects through a function: where they are read from the server, where they are written
// to it, and where they change in memory.
package object

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// Kind is what happens to an object.
type Kind int

// The kinds.
const (
	Read  Kind = iota // the object in memory becomes what the server has
	Write             // the server's object changes, and with it its resourceVersion
)

// An Event happens to the object at Path, in the names of the function that it was asked for.
type Event struct {
	Kind Kind
	Path string
	Call *ast.CallExpr // the call that does it, perhaps in another function
	At   *ast.CallExpr // the call in the function that was asked about
	In   *flow.Func
	Obj  ast.Expr // the object, where the call names it
	Key  ast.Expr // of a read: what is read
}

// Tracker finds events and remembers what it found out about functions.
type Tracker struct {
	effects map[*flow.Func][]effect
	busy    map[*flow.Func]bool
}

// NewTracker makes a tracker; it is for one goroutine.
func NewTracker() *Tracker {
	return &Tracker{effects: map[*flow.Func][]effect{}, busy: map[*flow.Func]bool{}}
}

// effect is an event on a parameter of a function.
type effect struct {
	kind   Kind
	param  int    // -1 is the receiver
	suffix string // the path below the parameter
	call   *ast.CallExpr
	in     *flow.Func
}

// Events are what happens in a node of f's graph, in order. Literals that run in place are part of it; deferred calls
// are not.
func (t *Tracker) Events(f *flow.Func, node ast.Node) []Event {
	var events []Event
	var visit func(g *flow.Func, n ast.Node)
	visit = func(g *flow.Func, n ast.Node) {
		var calls []*ast.CallExpr
		ast.Inspect(n, func(c ast.Node) bool {
			switch c := c.(type) {
			case *ast.FuncLit:
				if c == n {
					return true
				}
				if lit := g.Pkg.FuncAt(c); lit != nil && lit.RunsInPlace() {
					visit(lit, c.Body)
				}
				return false
			case *ast.DeferStmt, *ast.GoStmt:
				return false
			case *ast.CallExpr:
				calls = append(calls, c)
			}
			return true
		})
		// Arguments run before the call that takes them.
		for i := len(calls) - 1; i >= 0; i-- {
			events = append(events, t.callEvents(g, calls[i])...)
			if lit := calledLit(g, calls[i]); lit != nil && !t.busy[lit] {
				t.busy[lit] = true
				visit(lit, lit.Body())
				delete(t.busy, lit)
			}
		}
	}
	visit(f, node)
	return events
}

// calledLit is the literal that a call runs through the local variable that holds it.
func calledLit(f *flow.Func, call *ast.CallExpr) *flow.Func {
	v := f.Pkg.Var(call.Fun)
	if v == nil {
		return nil
	}
	owner := f.Pkg.Owner(v)
	if owner == nil {
		return nil
	}
	defs := owner.AllDefs(v)
	for _, d := range defs {
		if d.Rhs == nil {
			continue
		}
		if lit, ok := ast.Unparen(d.Rhs).(*ast.FuncLit); ok {
			return f.Pkg.FuncAt(lit)
		}
	}
	return nil
}

func (t *Tracker) callEvents(f *flow.Func, call *ast.CallExpr) []Event {
	fn := f.Pkg.Callee(call)
	if fn == nil {
		return nil
	}
	if ev := direct(f, call, fn); ev != nil {
		return ev
	}
	var events []Event
	for _, callee := range f.Pkg.Callees(call) {
		for _, e := range t.Effects(callee) {
			arg := callee.Argument(e.param, call)
			if arg == nil {
				continue
			}
			if p := f.Path(arg); p != "" {
				events = append(events, Event{Kind: e.kind, Path: p + e.suffix, Call: e.call, At: call, In: e.in, Obj: arg})
			}
		}
	}
	return events
}

// direct are the events of a call of a client.
func direct(f *flow.Func, call *ast.CallExpr, fn *types.Func) []Event {
	at := func(k Kind, i int) []Event {
		if i >= len(call.Args) {
			return nil
		}
		return []Event{{Kind: k, Path: f.Path(call.Args[i]), Call: call, At: call, In: f, Obj: call.Args[i]}}
	}
	if into, _ := kube.IsGet(fn); into && len(call.Args) > 2 {
		ev := at(Read, 2)
		ev[0].Key = call.Args[1]
		return ev
	}
	if kube.IsFunc(fn, kube.ControllerutilPath, "CreateOrUpdate", "CreateOrPatch") {
		return append(at(Read, 2), at(Write, 2)...)
	}
	writer, verb := kube.Kind(fn)
	switch {
	case writer == kube.NoWriter, writer == kube.Generated, verb == kube.Delete:
		return nil
	case writer == kube.SubResource:
		if verb == kube.Create {
			return nil // eviction, token, binding: the object itself stays
		}
		return at(Write, 1)
	case verb == kube.Create:
		return at(Read, 1) // what comes back is what the server has
	case writer == kube.ClientsetVerb || writer == kube.ClientsetStatus:
		return at(Write, 1)
	}
	return at(Write, 1)
}

// Effects are the reads and writes of its parameters that a call of f can do and then go on as usual.
func (t *Tracker) Effects(f *flow.Func) []effect {
	if e, ok := t.effects[f]; ok {
		return e
	}
	if t.busy[f] || f.Body() == nil {
		return nil
	}
	t.busy[f] = true
	defer delete(t.busy, f)
	var out []effect
	if f.Graph() != nil {
		for _, b := range f.Graph().Blocks {
			for i, n := range b.Nodes {
				for _, ev := range t.Events(f, n) {
					for _, e := range paramEffects(f, ev) {
						if e.kind == Read || goesOn(f, f.PointAt(b, i)) {
							out = append(out, e)
						}
					}
				}
			}
		}
	}
	t.effects[f] = out
	return out
}

// paramEffects are an event as the callers of f see it: on the parameter that the object is, is below of, or, for a
// write, is a copy of or was read by the key of.
func paramEffects(f *flow.Func, ev Event) []effect {
	sig := f.Signature()
	if sig == nil {
		return nil
	}
	for i := -1; i < sig.Params().Len() && ev.Path != ""; i++ {
		v := f.Param(i)
		if v == nil || v.Name() == "" || v.Name() == "_" {
			continue
		}
		if p := flow.VarPath(v); flow.Within(ev.Path, p) {
			return []effect{{kind: ev.Kind, param: i, suffix: ev.Path[len(p):], call: ev.Call, in: ev.In}}
		}
	}
	if ev.Kind != Write || ev.Obj == nil || ev.In.Outermost() != f.Outermost() {
		return nil
	}
	var out []effect
	for _, v := range Params(ev.In, ev.Obj) {
		if i, ok := f.ParamIndex(v); ok {
			out = append(out, effect{kind: Write, param: i, call: ev.Call, in: ev.In})
		}
	}
	return out
}

// Params are the parameters of the declaration around f that obj is, or is a copy of, or shares its key with.
func Params(f *flow.Func, obj ast.Expr) []*types.Var {
	var out []*types.Var
	seen := map[*types.Var]bool{}
	outer := f.Outermost()
	stop := func(e ast.Expr, fr *flow.Frame) bool {
		v := fr.Fn.Pkg.Var(e)
		if v == nil || fr.Fn.Pkg.Owner(v) != outer {
			return isCopyCall(fr.Fn.Pkg, e)
		}
		_, param := outer.ParamIndex(v)
		if !param {
			return false
		}
		_, entry := fr.Fn.ReachingDefs(v, fr.Fn.At(e))
		return entry
	}
	var follow func(e ast.Expr, fr *flow.Frame, depth int)
	follow = func(e ast.Expr, fr *flow.Frame, depth int) {
		for _, v := range flow.Trace(e, fr, stop) {
			if v.Expr == nil || depth > 5 {
				continue
			}
			pkg := v.Frame.Fn.Pkg
			if p := pkg.Var(v.Expr); p != nil && pkg.Owner(p) == outer {
				if _, ok := outer.ParamIndex(p); ok && !seen[p] {
					seen[p] = true
					out = append(out, p)
				}
				continue
			}
			if call, ok := v.Expr.(*ast.CallExpr); ok && isCopyCall(pkg, call) {
				follow(ast.Unparen(call.Fun).(*ast.SelectorExpr).X, v.Frame, depth+1)
			}
		}
	}
	follow(obj, &flow.Frame{Fn: f}, 0)
	for _, key := range keysOf(f, obj) {
		follow(key, &flow.Frame{Fn: f}, 0)
	}
	return out
}

func isCopyCall(pkg *flow.Package, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !kube.IsCopy(pkg.Callee(call)) {
		return false
	}
	_, ok = ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok
}

// keysOf are the objects by whose key obj is read in the declaration around f.
func keysOf(f *flow.Func, obj ast.Expr) []ast.Expr {
	path := f.Path(obj)
	if path == "" {
		return nil
	}
	var out []ast.Expr
	outer := f.Outermost()
	ast.Inspect(outer.Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if into, _ := kube.IsGet(f.Pkg.Callee(call)); !into || len(call.Args) < 3 || f.Path(call.Args[2]) != path {
			return true
		}
		for _, v := range flow.Trace(call.Args[1], &flow.Frame{Fn: f}, nil) {
			key, ok := v.Expr.(*ast.CallExpr)
			if ok && kube.IsFunc(v.Frame.Fn.Pkg.Callee(key), kube.ClientPath, "ObjectKeyFromObject") && v.Frame.Fn.Outermost() == outer {
				out = append(out, key.Args[0])
			}
		}
		return true
	})
	return out
}

// goesOn reports whether f can return after p in a way that tells the caller nothing: no error, no requeue, no "stop".
// Where a write is always followed by a telling return, the caller ends there, too, and the write is the last one.
func goesOn(f *flow.Func, p flow.Point) bool {
	sig := f.Signature()
	if sig == nil || sig.Results().Len() == 0 {
		return true
	}
	plain := false
	f.Walk(p, func(q flow.Point) bool {
		if ret, ok := q.Node().(*ast.ReturnStmt); ok && plainReturn(f, ret) {
			plain = true
		}
		return !plain
	})
	if ret, ok := p.Node().(*ast.ReturnStmt); ok {
		return plainReturn(f, ret)
	}
	return plain
}

func plainReturn(f *flow.Func, ret *ast.ReturnStmt) bool {
	for _, r := range ret.Results {
		r = ast.Unparen(r)
		if tv, ok := f.Pkg.Info.Types[r]; ok && tv.Value != nil {
			if tv.Value.ExactString() == "true" {
				return false
			}
			continue
		}
		if lit, ok := r.(*ast.CompositeLit); ok && len(lit.Elts) > 0 && kube.IsResult(f.Pkg.TypeOf(r)) {
			return false
		}
		if call, ok := r.(*ast.CallExpr); ok {
			if fn := f.Pkg.Callee(call); fn != nil && (kube.IsFunc(fn, "fmt", "Errorf") || kube.IsFunc(fn, "errors", "New")) {
				return false
			}
		}
	}
	return true
}

// IsApply reports whether a patch can be client.Apply.
func IsApply(f *flow.Func, patch ast.Expr) bool {
	for _, v := range flow.Trace(patch, &flow.Frame{Fn: f}, nil) {
		if v.Kind == flow.Global && v.Var.Name() == "Apply" && kube.PkgPath(v.Var) == kube.ClientPath {
			return true
		}
	}
	return false
}
