// Package errflow follows the error of one call: is it returned, is the work queued again, or is it dropped? It asks
// only about the case that the error is a conflict, so branches that a conflict cannot take are left out.
//
// It interprets the SSA form of the function with the call, path by path, with what is known about each value: that it
// is the conflict, is not the zero value of its type, or is. Functions of the program that get errors are interpreted the
// same way; callers are followed upwards.
package errflow

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// Outcome is what becomes of the error.
type Outcome struct {
	Dropped  bool      // some way ends with the conflict forgotten and nothing queued again
	At       token.Pos // where it is dropped
	Tested   token.Pos // where code asks whether it is a conflict
	Returned bool      // some way hands it to the caller
}

// Follower follows errors. Rewrites says whether a node writes the same status again, so that nothing is lost yet;
// Others, whether a function's error can be the conflict of another write, too. Fresh says that each attempt of a retry
// would write an object that it reads or makes, so that a conflict handed to a retry is not lost.
type Follower struct {
	Rewrites func(f *flow.Func, node ast.Node) bool
	Others   func(f *flow.Func) bool
	Fresh    bool
	Calls    flow.Calls // the callers that count

	bodies    *bodies
	summaries summaries
	queues    queues
}

// New is a follower that has looked at no function yet. Its copies share what they find out about functions.
func New() Follower { return Follower{bodies: newBodies(), summaries: summaries{}, queues: queues{}} }

// Follow is what becomes of the error that call returns in f.
func (fo *Follower) Follow(f *flow.Func, call *ast.CallExpr) Outcome { return fo.follow(f, call, 0) }

func (fo *Follower) follow(f *flow.Func, call *ast.CallExpr, depth int) Outcome {
	fn := fo.bodies.of(f)
	site := siteOf(fn, call)
	if site == nil {
		return Outcome{} // it cannot run, or does not type-check
	}
	j := &judge{walk: fo.walk(f, fn, conflict, 0)}
	w := j.walk
	w.call, w.site, w.ends, w.lost = call, site, j.end, j.drop
	if !w.start() {
		return Outcome{}
	}
	j.out.Tested = w.tested
	if j.again {
		j.out.Dropped = false
	}
	return fo.above(f, j, depth)
}

func (fo *Follower) walk(f *flow.Func, fn *ssa.Function, err fact, depth int) *walk {
	if fo.bodies.shapes[fn] == nil {
		fo.bodies.shapes[fn] = newShape(fn)
	}
	return &walk{fo: fo, f: f, built: fo.bodies.built(f.Pkg), shape: fo.bodies.shapes[fn], error: err, depth: depth,
		entered: map[string]bool{}, kept: func() {}, lost: func(token.Pos) {}}
}

// siteOf is the instruction of a call.
func siteOf(fn *ssa.Function, call *ast.CallExpr) ssa.CallInstruction {
	if fn == nil {
		return nil
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(ssa.CallInstruction); ok && c.Common().Pos() == call.Lparen {
				return c
			}
		}
	}
	return nil
}

// start walks from the function's entry, so that what holds where the write runs is known; where there are too many ways
// to it, from the write, with what the conditions around it say. False if there are too many ways behind it, too.
func (w *walk) start() bool {
	w.run(w.site.Parent().Blocks[0], 0, newState())
	if !w.over {
		return true
	}
	w.entered, w.over = map[string]bool{}, false
	s, b := newState(), w.site.Block()
	for inner := b; inner.Idom() != nil; inner = inner.Idom() {
		if cond, ok := inner.Idom().Instrs[len(inner.Idom().Instrs)-1].(*ssa.If); ok && len(inner.Preds) == 1 {
			s.assume(cond.Cond, truth(inner == inner.Idom().Succs[0]))
		}
	}
	for i, in := range b.Instrs {
		if in == w.site.(ssa.Instruction) {
			w.run(b, i, s)
		}
	}
	return !w.over
}

// above adds what callers do with what the function returns.
func (fo *Follower) above(f *flow.Func, j *judge, depth int) Outcome {
	out := j.out
	if out.Dropped {
		return out
	}
	if out.Returned {
		if up, ok := fo.callers(f, depth); ok {
			if out.Tested == token.NoPos {
				out.Tested = up.Tested
			}
			out.Dropped, out.At = up.Dropped, up.At
		}
	}
	if j.told && !out.Dropped {
		out.At, out.Dropped = fo.resultDropped(f)
	}
	return out
}

// callers joins what the callers of f do with its error: dropped if all of them drop it, since a helper that many call is
// not to blame for one that does its best without. A Reconcile is called by the controller, which queues the work again,
// whoever else calls it.
func (fo *Follower) callers(f *flow.Func, depth int) (Outcome, bool) {
	if depth > limits.ErrorCallers {
		return Outcome{}, false
	}
	if f.Lit != nil {
		if f.Deferred() {
			return Outcome{Dropped: true, At: f.Lit.Pos()}, true
		}
		if call, ok := f.Parent(f.Lit).(*ast.CallExpr); ok && f.Outer != nil {
			if fo.Fresh && RetriesConflicts(f.Pkg, call) {
				return Outcome{}, true
			}
			if returnsError(f.Pkg, call) {
				return fo.follow(f.Outer, call, depth+1), true
			}
			return Outcome{}, false
		}
	}
	calls := fo.Calls.Of(f)
	if len(calls) == 0 || f.UsedAsValue() || kube.IsReconcile(f.Obj) {
		return Outcome{}, false
	}
	all, seen := Outcome{Dropped: true}, false
	for _, c := range calls {
		if c.In == f {
			continue // recursion, or a method that hands on to another of the same interface
		}
		seen = true
		o := fo.follow(c.In, c.Expr, depth+1)
		all.Dropped = all.Dropped && o.Dropped
		if o.Dropped {
			all.At = o.At
		}
		if o.Tested.IsValid() && (fo.Others == nil || !fo.Others(f)) {
			all.Tested = o.Tested
		}
	}
	return all, seen
}

// RetriesConflicts reports whether a call runs the function that it gets again when that returns a conflict.
func RetriesConflicts(pkg *flow.Package, call *ast.CallExpr) bool {
	fn := pkg.Callee(call)
	if kube.IsRetry(fn) || kube.RetriesAll(fn) {
		return true
	}
	if !kube.IsFunc(fn, kube.RetryPath, "OnError") || len(call.Args) != 3 {
		return false
	}
	when := pkg.FuncOf(call.Args[1])
	if kube.IsConflictCheck(when) {
		return true
	}
	d := pkg.Program().Decl(when)
	return d != nil && d.Body() != nil && asksConflict(d)
}

func returnsError(pkg *flow.Package, call *ast.CallExpr) bool {
	t := pkg.TypeOf(call)
	if tup, ok := t.(*types.Tuple); ok {
		return tup.Len() > 0 && kube.IsError(tup.At(tup.Len()-1).Type())
	}
	return kube.IsError(t)
}

// asksConflict: a function that reports whether its error is a conflict, and not whether it is one of several reasons.
func asksConflict(d *flow.Func) bool {
	sig := d.Signature()
	if sig == nil || sig.Results().Len() != 1 || sig.Results().At(0).Type().String() != "bool" {
		return false
	}
	asks, others := false, false
	d.EachCall(d.Body(), func(c *ast.CallExpr) {
		fn := d.Pkg.Callee(c)
		asks = asks || kube.IsConflictCheck(fn)
		others = others || kube.IsOtherReasonCheck(fn)
	})
	return asks && !others
}
