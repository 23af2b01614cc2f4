package errflow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

type walk struct {
	fo      *Follower
	f       *flow.Func
	site    *ast.CallExpr
	from    ast.Node // the statement that consumes the error
	cond    ast.Expr // or the condition that does
	start   *state
	out     Outcome
	success map[*ast.ReturnStmt]bool // returns that the way without an error reaches; nil until asked
	probing bool                     // on that way
	again   bool                     // some way asks for another attempt
	told    bool                     // some way says so by the result of a reconcile
}

// runIn walks from the call in one of the states in which control reaches it.
func (w *walk) runIn(known *state) {
	start := w.start
	defer func() { w.start = start }()
	w.start = start.clone()
	for v := range known.nonNil {
		if !start.tainted[v] {
			w.start.nonNil[v] = true
		}
	}
	w.run()
}

func (w *walk) run() {
	at := w.from
	if w.cond != nil {
		at = w.cond
	}
	p := w.f.At(at)
	if !p.Valid() {
		return
	}
	seen := map[string]bool{}
	if w.cond != nil {
		w.branch(p, w.start, seen)
		return
	}
	if _, isDefer := at.(*ast.DeferStmt); isDefer {
		w.drop(at.Pos())
		return
	}
	w.block(p.Next(), w.start, seen)
}

// block walks on from p to the end of its block and into the blocks after it.
func (w *walk) block(p flow.Point, s *state, seen map[string]bool) {
	for ; p.InBlock(); p = p.Next() {
		n := p.Node()
		if p.Branches() && p.LastInBlock() {
			w.branch(p, s, seen)
			return
		}
		if ret, ok := n.(*ast.ReturnStmt); ok {
			w.ret(ret, s)
			return
		}
		if !w.step(n, s) {
			return
		}
	}
	for _, next := range p.Successors() {
		w.enter(next, s.clone(), seen)
	}
}

func (w *walk) enter(p flow.Point, s *state, seen map[string]bool) {
	key := p.BlockKey() + ":" + s.key()
	if seen[key] {
		return
	}
	seen[key] = true
	w.block(p, s, seen)
}

// branch goes only where a conflict can go.
func (w *walk) branch(p flow.Point, s *state, seen map[string]bool) {
	cond := p.Node().(ast.Expr)
	if contains(cond, w.site) && p.Node() != ast.Node(w.cond) {
		return
	}
	if w.fo.Rewrites != nil && !w.probing && p.Node() != ast.Node(w.cond) && w.fo.Rewrites(w.f, cond) {
		return
	}
	yes, no := w.truth(cond, s)
	next := p.Successors()
	if yes && len(next) > 0 {
		w.enter(next[0], w.knowing(s, cond, token.NEQ), seen)
	}
	if no && len(next) > 1 {
		w.enter(next[1], w.knowing(s, cond, token.EQL), seen)
	}
}

// knowing is the state with the errors that cond, true for NEQ and false for EQL, shows not to be nil.
func (w *walk) knowing(s *state, cond ast.Expr, op token.Token) *state {
	t := s.clone()
	note := func(v *types.Var) {
		if !t.tainted[v] {
			t.nonNil[v] = true
		}
	}
	w.eachConjunct(cond, op, note)
	// Where one side of && is sure to be true, it is the other one that is false.
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && op == token.EQL && b.Op == token.LAND {
		if _, no := w.truth(b.X, s); !no {
			w.eachConjunct(b.Y, op, note)
		}
		if _, no := w.truth(b.Y, s); !no {
			w.eachConjunct(b.X, op, note)
		}
	}
	return t
}

// step is one statement; false ends the way without loss.
func (w *walk) step(n ast.Node, s *state) bool {
	if contains(n, w.site) {
		return false // the write again: a retry, or the next item of a loop whose end is walked, too
	}
	if !w.probing && w.cancelled(n) {
		return false
	}
	if !w.probing && w.fo.Rewrites != nil && w.fo.Rewrites(w.f, n) && !contains(n, w.site) {
		return false
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		return w.assign(n, s)
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if v, ok := w.f.Pkg.Info.Defs[name].(*types.Var); ok && i < len(n.Values) && w.mentions(n.Values[i], s) {
				s.tainted[v] = true
			}
		}
	case *ast.ExprStmt:
		if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok {
			return w.call(call, s)
		}
	case *ast.SendStmt:
		return w.probing || !w.mentions(n.Value, s) && !kube.IsGenericEvent(w.f.Pkg.TypeOf(n.Value))
	}
	return !w.requeues(n)
}

// cancelled: the way is taken when the context ends, and with it all work that could be queued.
func (w *walk) cancelled(n ast.Node) bool {
	e, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	recv, ok := ast.Unparen(e.X).(*ast.UnaryExpr)
	if !ok || recv.Op != token.ARROW {
		return false
	}
	call, ok := ast.Unparen(recv.X).(*ast.CallExpr)
	return ok && kube.IsFunc(w.f.Pkg.Callee(call), "context", "Done")
}

// call is a call as a statement: to a log the error is dropped, to anything unknown it is handed over.
func (w *walk) call(call *ast.CallExpr, s *state) bool {
	if w.requeues(call) {
		return false
	}
	if w.probing || w.isLog(call) {
		return true
	}
	for _, a := range call.Args {
		if w.mentions(a, s) {
			return false
		}
	}
	return true
}

func (w *walk) assign(a *ast.AssignStmt, s *state) bool {
	if w.requeues(a) {
		return false
	}
	w.assertion(a, s)
	for i, lhs := range a.Lhs {
		rhs := a.Rhs[0]
		if len(a.Lhs) == len(a.Rhs) {
			rhs = a.Rhs[i]
		}
		tainted := w.mentions(rhs, s) && !w.isLogExpr(rhs)
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok {
			if asksRequeue(w.f, lhs) || tainted && !w.probing {
				return false
			}
			continue
		}
		v := w.f.Pkg.Var(id)
		if v == nil {
			continue
		}
		if kube.IsResult(v.Type()) && w.isResult(v) && w.resultRequeues(rhs) && !w.probing {
			return false // the function, or the one around it, asks for another attempt
		}
		if w.f.Pkg.Owner(v) != w.f {
			if tainted && !w.probing {
				return false // a variable of the function around: it is looked at there
			}
			continue
		}
		made := isErrorType(v.Type()) && w.neverNil(rhs, s, 0)
		delete(s.nonNil, v)
		switch {
		case tainted && holdsError(v.Type()):
			s.tainted[v] = true
		case !tainted:
			delete(s.tainted, v)
			if made {
				s.nonNil[v] = true
			}
		}
	}
	return true
}

// assertion: a conflict is an API status and no other type of error.
func (w *walk) assertion(a *ast.AssignStmt, s *state) {
	if len(a.Lhs) != 2 || len(a.Rhs) != 1 {
		return
	}
	v := w.f.Pkg.Var(a.Lhs[1])
	if v == nil {
		return
	}
	delete(s.no, v)
	ta, ok := ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr)
	if ok && ta.Type != nil && w.mentions(ta.X, s) && !isAPIStatus(w.f.Pkg.TypeOf(ta.Type)) {
		s.no[v] = true
	}
}

func isAPIStatus(t types.Type) bool {
	n := kube.Named(t)
	return t == nil || n == nil || kube.PkgPath(n.Obj()) == kube.ErrorsPath || types.IsInterface(t)
}

// holdsError: what is made of an error and is not one of these (a message, a bool) no longer carries it.
func holdsError(t types.Type) bool {
	if kube.IsError(t) {
		return true
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		return kube.IsError(s.Elem())
	}
	_, iface := t.Underlying().(*types.Interface)
	_, ptr := t.Underlying().(*types.Pointer)
	return iface || ptr
}

func (w *walk) mentions(e ast.Node, s *state) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if n == ast.Node(w.site) && w.cond != nil {
			found = true
		}
		if call, ok := n.(*ast.CallExpr); ok && w.swallows(call, func(a ast.Expr) bool { return w.mentions(a, s) }) {
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := w.f.Pkg.Info.Uses[id].(*types.Var); ok && s.tainted[v] {
				found = true
			}
		}
		return !found
	})
	return found
}

func contains(n, inner ast.Node) bool {
	return n.Pos() <= inner.Pos() && inner.End() <= n.End()
}

// drop notes a place where the conflict is dropped. The one that stands next behind the write explains most.
func (w *walk) drop(at token.Pos) {
	if !w.out.Dropped || w.behind(at) && (!w.behind(w.out.At) || at < w.out.At) {
		w.out.Dropped, w.out.At = true, at
	}
}

func (w *walk) behind(at token.Pos) bool { return at >= w.site.Pos() }

// isResult: a named result of the function, or of the one around a literal.
func (w *walk) isResult(v *types.Var) bool {
	for f := w.f; f != nil; f = f.Outer {
		sig := f.Signature()
		for i := 0; sig != nil && i < sig.Results().Len(); i++ {
			if sig.Results().At(i) == v {
				return true
			}
		}
	}
	return false
}
