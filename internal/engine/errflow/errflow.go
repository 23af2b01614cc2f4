// Package errflow follows the error of one call: is it returned, is the work queued again, or is it dropped? It asks
// only about the case that the error is a conflict, so branches that a conflict cannot take are left out.
package errflow

import (
	"go/ast"
	"go/token"
	"go/types"

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
	Queues     Queues
	Swallowers Swallowers
	Rewrites   func(f *flow.Func, node ast.Node) bool
	Others     func(f *flow.Func) bool
	Fresh      bool
}

// Follow is what becomes of the error that call returns in f.
func (fo *Follower) Follow(f *flow.Func, call *ast.CallExpr) Outcome { return fo.follow(f, call, 0) }

func (fo *Follower) follow(f *flow.Func, call *ast.CallExpr, depth int) Outcome {
	w := &walk{fo: fo, f: f, site: call, start: newState()}
	end := w.consume(call)
	switch end {
	case kept:
		return Outcome{}
	case returned:
		w.out.Returned = true
	case walked:
		for _, s := range w.arrivals(call) {
			w.runIn(s)
		}
	}
	if w.again {
		w.out.Dropped = false
	}
	return fo.above(f, w, depth)
}

// above adds what callers do with what the function returns.
func (fo *Follower) above(f *flow.Func, w *walk, depth int) Outcome {
	out := w.out
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
	if w.told && !out.Dropped {
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
			if fo.Fresh && retries(f.Pkg, call) {
				return Outcome{}, true
			}
			if returnsError(f.Pkg, call) {
				return fo.follow(f.Outer, call, depth+1), true
			}
			return Outcome{}, false
		}
	}
	calls := f.CallsSeen()
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

// retries: the call runs the function that it gets again when that returns a conflict.
func retries(pkg *flow.Package, call *ast.CallExpr) bool {
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

type consumption int

const (
	kept     consumption = iota // goes where it cannot be followed: not dropped
	returned                    // is returned at once
	walked                      // is in the start state, or dropped there
	lost                        // was dropped
)

// consume says what the statement around the call does with its error, and prepares the start state.
func (w *walk) consume(call ast.Node) consumption {
	n := call
	for {
		p := w.f.Parent(n)
		switch x := p.(type) {
		case *ast.ParenExpr, *ast.BinaryExpr, *ast.UnaryExpr:
			if e, ok := x.(ast.Expr); ok && w.isCondition(e) {
				w.cond = e
				return walked
			}
			n = p
		case *ast.CallExpr:
			switch {
			case w.isLog(x):
				w.from = x
				return walked
			case w.swallows(x, func(a ast.Expr) bool { return contains(a, call) }):
				w.drop(x.Pos())
				return lost
			case returnsError(w.f.Pkg, x) || isAppend(w.f.Pkg, x):
				n = x
			case w.isCondition(x):
				w.cond = x
				return walked
			default:
				return kept
			}
		case *ast.ReturnStmt:
			return returned
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
			w.from = p
			return walked
		case *ast.AssignStmt:
			return w.assigned(x, n)
		case *ast.ValueSpec:
			w.from = x
			if len(x.Names) > 0 {
				if v, ok := w.f.Pkg.Info.Defs[x.Names[len(x.Names)-1]].(*types.Var); ok {
					w.start.tainted[v] = true
				}
			}
			return walked
		default:
			if e, ok := n.(ast.Expr); ok && w.isCondition(e) {
				w.cond = e
				return walked
			}
			return kept
		}
	}
}

// assigned: the error is the last value on the right, so it goes to the last variable on the left.
func (w *walk) assigned(a *ast.AssignStmt, rhs ast.Node) consumption {
	w.from = a
	lhs := a.Lhs[len(a.Lhs)-1]
	if len(a.Lhs) == len(a.Rhs) {
		for i, r := range a.Rhs {
			if r == rhs {
				lhs = a.Lhs[i]
			}
		}
	}
	id, ok := ast.Unparen(lhs).(*ast.Ident)
	if !ok {
		return kept
	}
	if id.Name == "_" {
		return walked
	}
	v := w.f.Pkg.Var(id)
	if v == nil || w.f.Pkg.Owner(v) != w.f {
		return kept
	}
	w.start.tainted[v] = true
	return walked
}

// isCondition reports whether e is a leaf condition of the graph.
func (w *walk) isCondition(e ast.Expr) bool {
	p := w.f.At(e)
	return p.Valid() && p.Node() == ast.Node(e) && p.Branches()
}

func isAppend(pkg *flow.Package, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := pkg.Info.Uses[id].(*types.Builtin)
	return ok && b.Name() == "append"
}
