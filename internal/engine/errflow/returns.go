package errflow

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// ret judges one way out of the function.
func (w *walk) ret(ret *ast.ReturnStmt, s *state) {
	if w.probing {
		w.success[ret] = true
		return
	}
	sig := w.f.Signature()
	if sig == nil {
		return
	}
	results := sig.Results()
	if results.Len() == 0 {
		if !w.otherError(s) {
			w.drop(w.site.Pos())
		}
		return
	}
	if w.carries(ret, results, s) {
		w.out.Returned = true
		return
	}
	if w.startsOver(ret) {
		return
	}
	if w.asksAgain(ret, results) {
		w.again = true
		return
	}
	for i := range results.Len() {
		if w.tells(ret, results, i, s) {
			return
		}
	}
	if w.fo.Rewrites != nil && w.fo.Rewrites(w.f, ret) && !contains(ret, w.site) {
		return
	}
	w.drop(ret.Pos())
}

// otherError: a deferred literal ends, and the function around it returns another error by a named result.
func (w *walk) otherError(s *state) bool {
	if !w.f.Deferred() || w.f.Outer == nil || w.f.Outer.Signature() == nil {
		return false
	}
	results := w.f.Outer.Signature().Results()
	for i := range results.Len() {
		if v := results.At(i); kube.IsError(v.Type()) && s.nonNil[v] {
			return true
		}
	}
	return false
}

// carries: a result is made of the conflict.
func (w *walk) carries(ret *ast.ReturnStmt, results *types.Tuple, s *state) bool {
	if len(ret.Results) == 0 {
		for i := range results.Len() {
			if s.tainted[results.At(i)] {
				return true
			}
		}
		return false
	}
	for _, r := range ret.Results {
		if w.mentions(r, s) && !w.isLogExpr(r) {
			return true
		}
	}
	return false
}

// startsOver: the whole reconcile is done again.
func (w *walk) startsOver(ret *ast.ReturnStmt) bool {
	found := false
	w.f.EachCall(ret, func(c *ast.CallExpr) {
		fn := w.f.Pkg.Callee(c)
		found = found || kube.IsReconcile(fn) || fn != nil && fn == w.f.Obj && !w.handsOver(c)
	})
	return found
}

// handsOver: a call of the function itself gets the object that was written, or another one: what was edited is lost.
func (w *walk) handsOver(call *ast.CallExpr) bool {
	for _, a := range call.Args {
		if kube.IsObject(w.f.Pkg.TypeOf(a)) {
			return true
		}
	}
	return false
}

// asksAgain: a condition that is polled says that it is not done. What it works through by then is for its own
// bookkeeping, which is not followed.
func (w *walk) asksAgain(ret *ast.ReturnStmt, results *types.Tuple) bool {
	if results.Len() != 2 || !types.Identical(results.At(0).Type(), types.Typ[types.Bool]) || len(ret.Results) != 2 {
		return false
	}
	tv := w.f.Pkg.Info.Types[ret.Results[0]]
	return tv.Value != nil && !constant.BoolVal(tv.Value) && polled(w.f)
}

// polled: a literal is handed to one of apimachinery's polls, itself or by the variable that holds it.
func polled(f *flow.Func) bool {
	if f.Lit == nil {
		return false
	}
	held, found := f.HeldBy(), false
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || !kube.IsRepeater(f.Pkg.Callee(call)) {
			return !found
		}
		for _, a := range call.Args {
			found = found || ast.Unparen(a) == ast.Expr(f.Lit) || held != nil && f.Pkg.Var(a) == held
		}
		return !found
	})
	return found
}

// tells: a result says that the work must be done again, or at least that something is different from success.
func (w *walk) tells(ret *ast.ReturnStmt, results *types.Tuple, i int, s *state) bool {
	t := results.At(i).Type()
	var e ast.Expr
	if len(ret.Results) == results.Len() {
		e = ret.Results[i]
	}
	switch {
	case isErrorType(t):
		if e == nil {
			return len(ret.Results) == 0 && s.nonNil[results.At(i)]
		}
		return w.neverNil(e, s, 0) || w.ignoredOther(e, s)
	case kube.IsResult(t):
		if e == nil {
			return false
		}
		if !w.resultRequeues(e) {
			return false
		}
		w.told = true
		return true
	}
	return w.onlyOnError(ret)
}

// ignoredOther: another error that is not nil is returned, unless it is of a kind that the caller need not know.
func (w *walk) ignoredOther(e ast.Expr, s *state) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && len(call.Args) == 1 && ignores(w.f.Pkg.Callee(call)) && w.neverNil(call.Args[0], s, 0)
}

func (w *walk) resultRequeues(e ast.Expr) bool {
	for _, v := range flow.Trace(e, &flow.Frame{Fn: w.f}, nil) {
		switch x := v.Expr.(type) {
		case *ast.CompositeLit:
			if len(x.Elts) > 0 {
				return true
			}
			// An empty literal held in a variable can be filled in afterwards.
			if w.f.Pkg.Var(e) != nil && w.filledIn(w.f.Pkg.Var(e)) {
				return true
			}
		case *ast.CallExpr, *ast.SelectorExpr:
			return true
		default:
			if v.Kind == flow.Zero && w.f.Pkg.Var(e) != nil && w.filledIn(w.f.Pkg.Var(e)) {
				return true
			}
			if v.Kind == flow.Parameter || v.Kind == flow.Opaque || v.Kind == flow.Global {
				return true
			}
		}
	}
	return false
}

func (w *walk) filledIn(v *types.Var) bool {
	found := false
	ast.Inspect(w.f.Body(), func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && w.f.Pkg.Var(sel.X) == v {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// onlyOnError: a return that the way without an error does not reach tells the caller by its other results.
func (w *walk) onlyOnError(ret *ast.ReturnStmt) bool {
	if w.success == nil {
		w.success = map[*ast.ReturnStmt]bool{}
		probe := &walk{fo: w.fo, f: w.f, site: w.site, from: w.from, cond: w.cond, start: w.start, success: w.success, probing: true}
		probe.run()
	}
	return !w.success[ret]
}

// asksRequeue: an assignment to result.Requeue or result.RequeueAfter.
func asksRequeue(f *flow.Func, lhs ast.Expr) bool {
	sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Requeue" || sel.Sel.Name == "RequeueAfter") && kube.IsResult(f.Pkg.TypeOf(sel.X))
}

// namedEnqueue: a function value cannot be looked into; one that is called enqueue is believed.
func namedEnqueue(c *ast.CallExpr) bool {
	name := ""
	switch x := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "enqueue") || strings.HasPrefix(name, "requeue")
}

// requeues: the node puts a key into a work queue, itself or in a function that it calls.
func (w *walk) requeues(n ast.Node) bool { return w.fo.Queues.in(w.f, n, 0) }

// Queues remembers which functions put a key into a work queue, by how deep they are looked into.
type Queues map[queueing]bool

type queueing struct {
	fn    *flow.Func
	depth int
}

func (q Queues) in(f *flow.Func, n ast.Node, depth int) bool {
	found := false
	f.EachCall(n, func(c *ast.CallExpr) {
		fn := f.Pkg.Callee(c)
		if fn == nil || found {
			found = found || namedEnqueue(c)
			return
		}
		if strings.HasPrefix(fn.Name(), "Add") && fn.Signature().Recv() != nil && kube.PkgPath(fn) == "k8s.io/client-go/util/workqueue" {
			found = true
			return
		}
		for _, d := range f.Pkg.Callees(c) {
			found = found || q.function(d, depth+1)
		}
	})
	return found
}

func (q Queues) function(d *flow.Func, depth int) bool {
	if depth > limits.Queues {
		return false
	}
	at := queueing{d, depth}
	found, known := q[at]
	if !known {
		found = q.in(d, d.Body(), depth)
		q[at] = found
	}
	return found
}
