package flow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// Trace follows e in fr back to its sources: through variables, parameters (to the arguments of callers), results of
// functions that can be seen, fields, conversions and assertions. stop, if not nil, ends the trace at an expression.
func Trace(e ast.Expr, fr *Frame, stop func(ast.Expr, *Frame) bool) []Value {
	t := &tracer{stop: stop, calls: fr.Calls, seen: map[traceKey]bool{}}
	t.expr(e, fr, 0)
	return t.out
}

type traceKey struct {
	node ast.Node
	fn   *Func
	call *ast.CallExpr
}

type tracer struct {
	stop  func(ast.Expr, *Frame) bool
	calls Calls
	seen  map[traceKey]bool
	out   []Value
}

func (t *tracer) emit(v Value) { t.out = append(t.out, v) }

func (t *tracer) expr(e ast.Expr, fr *Frame, depth int) { t.result(e, -1, fr, depth) }

// result traces e, or its i-th result if i is not negative.
func (t *tracer) result(e ast.Expr, i int, fr *Frame, depth int) {
	e = ast.Unparen(e)
	if depth > limits.Trace {
		t.emit(Value{Kind: Opaque, Expr: e, Frame: fr})
		return
	}
	key := traceKey{e, fr.Fn, fr.Call}
	if t.seen[key] {
		return
	}
	t.seen[key] = true
	if t.stop != nil && t.stop(e, fr) {
		t.emit(Value{Expr: e, Index: i, Frame: fr})
		return
	}
	switch x := e.(type) {
	case *ast.Ident:
		t.ident(x, fr, depth+1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			t.expr(x.X, fr, depth+1)
			return
		}
		t.emit(Value{Expr: e, Frame: fr})
	case *ast.StarExpr:
		t.expr(x.X, fr, depth+1)
	case *ast.TypeAssertExpr:
		t.expr(x.X, fr, depth+1)
	case *ast.IndexExpr:
		if fr.Fn.Pkg.FuncOf(x) == nil {
			t.emit(Value{Kind: Element, Expr: e, Frame: fr})
			return
		}
		t.emit(Value{Expr: e, Frame: fr})
	case *ast.SelectorExpr:
		t.selector(x, fr, depth+1)
	case *ast.CallExpr:
		t.call(x, i, fr, depth+1)
	default:
		t.emit(Value{Expr: e, Index: i, Frame: fr})
	}
}

func (t *tracer) ident(id *ast.Ident, fr *Frame, depth int) {
	pkg := fr.Fn.Pkg
	v := pkg.Var(id)
	if v == nil {
		t.emit(Value{Expr: id, Frame: fr})
		return
	}
	if v.Parent() != nil && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		t.emit(Value{Kind: Global, Expr: id, Var: v, Frame: fr})
		return
	}
	if x := pkg.switchOf[v]; x != nil {
		t.expr(x, t.frameOf(v, id, fr), depth)
		return
	}
	t.variable(v, id, fr, depth)
}

// variable traces v as it is at node at.
func (t *tracer) variable(v *types.Var, at ast.Node, fr *Frame, depth int) {
	owner := fr.Fn.Pkg.owner[v]
	if owner == nil {
		t.emit(Value{Kind: Opaque, Var: v, Frame: fr})
		return
	}
	for fr.Fn != owner {
		defs, entry := fr.Fn.ReachingDefs(v, fr.Fn.At(at))
		t.defs(defs, fr, depth)
		if !entry {
			return
		}
		up := outerFrame(fr)
		if up == nil {
			t.emit(Value{Kind: Opaque, Var: v, Frame: fr})
			return
		}
		t.defs(fr.Fn.laterDefs(v), up, depth)
		at, fr = fr.Fn.Lit, up
	}
	defs, entry := fr.Fn.ReachingDefs(v, fr.Fn.At(at))
	t.defs(defs, fr, depth)
	if entry {
		t.param(v, fr, depth)
	}
}

// laterDefs are the values that the function around a literal gives to v after the literal was made, if it can be run
// later than where it stands.
func (f *Func) laterDefs(v *types.Var) []Def {
	if f.Outer == nil || f.RunsInPlace() {
		return nil
	}
	var defs []Def
	f.Outer.Walk(f.Outer.At(f.Lit), func(p Point) bool {
		defs = append(defs, f.Outer.defsOf(p.Node(), v)...)
		return true
	})
	return defs
}

// RunsInPlace reports whether a literal runs where it stands: it is called there, or handed to a call that is neither
// deferred nor a new goroutine.
func (f *Func) RunsInPlace() bool {
	call, ok := f.Parent(f.Lit).(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f.Parent(call).(type) {
	case *ast.DeferStmt, *ast.GoStmt:
		return false
	}
	return true
}

// Deferred reports whether a literal is the function of a defer statement.
func (f *Func) Deferred() bool {
	if f.Lit == nil {
		return false
	}
	call, ok := f.Parent(f.Lit).(*ast.CallExpr)
	if !ok || call.Fun != ast.Expr(f.Lit) {
		return false
	}
	_, ok = f.Parent(call).(*ast.DeferStmt)
	return ok
}

func (t *tracer) defs(defs []Def, fr *Frame, depth int) {
	for _, d := range defs {
		at := fr
		if d.Fn != fr.Fn {
			at = &Frame{Fn: d.Fn, Calls: t.calls}
		}
		switch {
		case d.Rhs == nil:
			t.emit(Value{Kind: Zero, Frame: at})
		case d.Range:
			t.emit(Value{Kind: Element, Expr: d.Rhs, Frame: at})
		default:
			t.result(d.Rhs, d.Index, at, depth)
		}
	}
}

// outerFrame is the frame of the function around a literal.
func outerFrame(fr *Frame) *Frame {
	if fr.Fn.Outer == nil {
		return nil
	}
	for p := fr.Parent; p != nil; p = p.Parent {
		if p.Fn == fr.Fn.Outer {
			return p
		}
	}
	return &Frame{Fn: fr.Fn.Outer, Calls: fr.Calls, Below: fr, Site: fr.Fn.Lit}
}

func (t *tracer) frameOf(v *types.Var, _ ast.Node, fr *Frame) *Frame {
	owner := fr.Fn.Pkg.owner[v]
	for fr != nil && fr.Fn != owner {
		fr = outerFrame(fr)
	}
	if fr == nil {
		return &Frame{Fn: owner, Calls: t.calls}
	}
	return fr
}

// param traces a parameter to the arguments of the calls that can be seen.
func (t *tracer) param(v *types.Var, fr *Frame, depth int) {
	idx, ok := fr.Fn.ParamIndex(v)
	if !ok {
		// A named result that nobody has set yet.
		t.emit(Value{Kind: Zero, Var: v, Frame: fr})
		return
	}
	if fr.Call != nil {
		t.argument(fr.Fn, idx, fr.Call, fr.Parent, v, depth)
		return
	}
	calls := t.calls.Of(fr.Fn)
	if len(calls) == 0 || depth > limits.Trace {
		t.emit(Value{Kind: Parameter, Var: v, Frame: fr})
		return
	}
	for _, c := range calls {
		if c.In == fr.Fn {
			continue // recursion hands on what it got
		}
		t.argument(fr.Fn, idx, c.Expr, &Frame{Fn: c.In, Calls: t.calls, Below: fr, Site: c.Expr}, v, depth)
	}
}

func (t *tracer) argument(callee *Func, idx int, call *ast.CallExpr, in *Frame, v *types.Var, depth int) {
	arg := callee.Argument(idx, call)
	if arg == nil {
		t.emit(Value{Kind: Parameter, Var: v, Frame: &Frame{Fn: callee, Calls: t.calls}})
		return
	}
	t.expr(arg, in, depth+1)
}

func (t *tracer) selector(sel *ast.SelectorExpr, fr *Frame, depth int) {
	pkg := fr.Fn.Pkg
	v, _ := pkg.Info.Uses[sel.Sel].(*types.Var)
	if v == nil {
		t.emit(Value{Expr: sel, Frame: fr})
		return
	}
	if !v.IsField() {
		t.emit(Value{Kind: Global, Expr: sel, Var: v, Frame: fr})
		return
	}
	defs := pkg.FieldDefs(v.Origin())
	if v.Pkg() != pkg.Types || len(defs) == 0 {
		t.emit(Value{Kind: Field, Expr: sel, Var: v, Frame: fr})
		return
	}
	for _, d := range defs {
		t.expr(d.Rhs, &Frame{Fn: d.Fn, Calls: t.calls}, depth+1)
	}
}

func (t *tracer) call(call *ast.CallExpr, i int, fr *Frame, depth int) {
	pkg := fr.Fn.Pkg
	if tv, ok := pkg.Info.Types[call.Fun]; ok && tv.IsType() && len(call.Args) == 1 {
		t.expr(call.Args[0], fr, depth)
		return
	}
	callees := pkg.Callees(call)
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok && pkg.byNode[lit] != nil {
		callees = []*Func{pkg.byNode[lit]}
	}
	found := false
	if fr.depth() <= limits.Frames {
		for _, callee := range callees {
			found = t.results(callee, call, i, fr, depth) || found
		}
	}
	if !found {
		t.emit(Value{Expr: call, Index: i, Frame: fr})
	}
}

// results traces what a call of callee returns, and reports whether it returns anything.
func (t *tracer) results(callee *Func, call *ast.CallExpr, i int, fr *Frame, depth int) bool {
	in := &Frame{Fn: callee, Calls: t.calls, Parent: fr, Call: call}
	found := false
	callee.EachReturn(func(ret *ast.ReturnStmt) {
		k := max(i, 0)
		switch {
		case len(ret.Results) == 0:
			if v := callee.namedResult(k); v != nil {
				found = true
				t.variable(v, ret, in, depth)
			}
		case len(ret.Results) == 1 && k > 0:
			found = true
			t.result(ret.Results[0], i, in, depth)
		case k < len(ret.Results):
			found = true
			if id, ok := ast.Unparen(ret.Results[k]).(*ast.Ident); ok && id.Name == "nil" {
				return
			}
			t.expr(ret.Results[k], in, depth)
		}
	})
	return found
}

func (f *Func) namedResult(i int) *types.Var {
	sig := f.Signature()
	if sig == nil || i >= sig.Results().Len() || sig.Results().At(i).Name() == "" {
		return nil
	}
	return sig.Results().At(i)
}

// EachReturn visits the return statements of f, without those of literals inside.
func (f *Func) EachReturn(visit func(*ast.ReturnStmt)) {
	ast.Inspect(f.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			visit(n)
		}
		return true
	})
}
