package class

import (
	"go/ast"
	"go/token"

	"github.com/statuspatcher/statuspatcher/lint/errflow"
	"github.com/statuspatcher/statuspatcher/lint/flow"
	"github.com/statuspatcher/statuspatcher/lint/kube"
	"github.com/statuspatcher/statuspatcher/lint/object"
	"github.com/statuspatcher/statuspatcher/lint/site"
)

// finish looks at what becomes of the write's error: a retry around a write that cannot conflict is dead, a conflict
// that is dropped loses the status.
func (c *Classifier) finish(f *Finding) {
	s := f.Site
	if s.Call == nil {
		return
	}
	switch f.Class {
	case BlindMerge, BlindJSON, BlindUpdate, BlindApply:
		if f.Class == BlindApply && !forced(s) {
			return // an apply without force conflicts on fields that others own
		}
		out := c.followerOf(s).Follow(s.Fn, s.Call)
		f.Dropped = out.Dropped
		if pos := c.retryAround(s.Fn, s.Call, 0); pos.IsValid() {
			f.set(DeadRetry, "the retry waits for a conflict that this write cannot get: "+f.Reason)
			f.relate(pos, "the retry is here")
		} else if out.Tested.IsValid() {
			f.set(DeadRetry, "the branch waits for a conflict that this write cannot get: "+f.Reason)
			f.relate(out.Tested, "the conflict is asked for here")
		}
	case Update, Refetch, Locked:
		out := c.followerOf(s).Follow(s.Fn, s.Call)
		if out.Dropped && !f.empty {
			f.set(SwallowedConflict, "a conflict of this write is dropped and nothing is queued again: the status is lost")
			f.relate(out.At, "the conflict is dropped here")
		}
	}
}

func (c *Classifier) follower() *errflow.Follower { return &errflow.Follower{} }

// followerOf does not count as lost what a later write of the same object sends again.
func (c *Classifier) followerOf(s *site.Site) *errflow.Follower {
	var paths []string
	if obj := s.Object(); obj != nil {
		paths = pathsOf(s.Fn, obj)
	}
	rewrites := func(f *flow.Func, node ast.Node) bool {
		if len(paths) == 0 || f.Outermost() != s.Fn.Outermost() {
			return false
		}
		for _, ev := range c.tracker.Events(f, node) {
			if ev.Kind == object.Write && ev.Call != s.Call && contains(paths, ev.Path) && c.writesStatus(ev) {
				return true
			}
		}
		return false
	}
	return &errflow.Follower{Rewrites: rewrites, Others: func(f *flow.Func) bool { return c.otherConflicts(f, s.Call) }}
}

func (c *Classifier) writesStatus(ev object.Event) bool {
	s := c.sites[ev.Call]
	return s != nil && s.Status
}

// forced: the apply takes over fields from other managers instead of conflicting with them.
func forced(s *site.Site) bool {
	found := false
	for _, a := range s.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "ForceOwnership" || id.Name == "Force") {
				found = true
			}
			return !found
		})
	}
	return found
}

// retryAround is the RetryOnConflict around a call, in this function or around a call of it, unless the retry holds
// another write that can conflict.
func (c *Classifier) retryAround(f *flow.Func, call *ast.CallExpr, depth int) token.Pos {
	for lit := f; lit != nil && lit.Lit != nil; lit = lit.Outer {
		outer, ok := lit.Parent(lit.Lit).(*ast.CallExpr)
		if ok && kube.IsRetry(lit.Pkg.Callee(outer)) {
			if c.otherConflicts(lit, call) {
				return token.NoPos
			}
			return outer.Pos()
		}
		if v := lit.HeldBy(); v != nil {
			if pos := c.retryOfVar(lit, call); pos.IsValid() {
				return pos
			}
		}
	}
	if depth > 2 || f.Outermost().Obj == nil {
		return token.NoPos
	}
	if pos := c.retryOfValue(f.Outermost()); pos.IsValid() {
		return pos
	}
	if !c.returnsErrorOf(f, call) {
		return token.NoPos
	}
	for _, up := range f.Outermost().CallsSeen() {
		if up.In.Outermost() == f.Outermost() {
			continue
		}
		if pos := c.retryAround(up.In, up.Expr, depth+1); pos.IsValid() {
			return pos
		}
	}
	return token.NoPos
}

// returnsErrorOf: the function hands the call's error to its caller.
func (c *Classifier) returnsErrorOf(f *flow.Func, call *ast.CallExpr) bool {
	return c.follower().Follow(f, call).Returned
}

// retryOfVar is the RetryOnConflict that is handed the variable which holds a literal.
func (c *Classifier) retryOfVar(lit *flow.Func, site *ast.CallExpr) token.Pos {
	v := lit.HeldBy()
	pos := token.NoPos
	ast.Inspect(lit.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && kube.IsRetry(lit.Pkg.Callee(call)) && len(call.Args) == 2 && lit.Pkg.Var(call.Args[1]) == v && !c.otherConflicts(lit, site) {
			pos = call.Pos()
		}
		return !pos.IsValid()
	})
	return pos
}

// retryOfValue is the RetryOnConflict that is handed a declared function by name.
func (c *Classifier) retryOfValue(f *flow.Func) token.Pos {
	if !f.UsedAsValue() {
		return token.NoPos
	}
	pos := token.NoPos
	for _, g := range f.Pkg.Funcs() {
		if g.Body() == nil || pos.IsValid() {
			continue
		}
		g.EachCall(g.Body(), func(call *ast.CallExpr) {
			if kube.IsRetry(g.Pkg.Callee(call)) && len(call.Args) == 2 {
				if fn := g.Pkg.FuncOf(call.Args[1]); fn != nil && f.Obj == fn {
					pos = call.Pos()
				}
			}
		})
	}
	return pos
}

// otherConflicts: beside the write, the retry holds another one that can conflict.
func (c *Classifier) otherConflicts(lit *flow.Func, call *ast.CallExpr) bool {
	other := false
	ast.Inspect(lit.Body(), func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok || x == call || other {
			return !other
		}
		switch w, verb := kube.Kind(lit.Pkg.Callee(x)); {
		case w == kube.NoWriter:
			for _, d := range lit.Pkg.Callees(x) {
				other = other || !within(d, call) && c.mayConflict(d, call, 0)
			}
		case verb == kube.Update:
			other = true
		case verb == kube.Patch && w != kube.CreateOrPatch:
			if s := c.sites[x]; s != nil && s.Patch() != nil {
				g := &Finding{Site: s, Fn: s.Fn}
				for _, v := range flow.Trace(s.Patch(), &flow.Frame{Fn: s.Fn}, nil) {
					if m, ok := v.Expr.(*ast.CallExpr); ok {
						if locked, _ := lockOf(m, v.Frame); locked {
							g.Class = Locked
						}
					}
				}
				other = g.Class == Locked
			}
		}
		return !other
	})
	return other
}

func within(f *flow.Func, call *ast.CallExpr) bool {
	return f.Node().Pos() <= call.Pos() && call.End() <= f.Node().End()
}

const maxLookedInto = 3

// mayConflict: a function that the retry calls updates something.
func (c *Classifier) mayConflict(d *flow.Func, call *ast.CallExpr, depth int) bool {
	found := false
	d.EachCall(d.Body(), func(x *ast.CallExpr) {
		if found || x == call {
			return
		}
		w, verb := kube.Kind(d.Pkg.Callee(x))
		found = w != kube.NoWriter && verb == kube.Update
		if w == kube.NoWriter && depth < maxLookedInto {
			for _, next := range d.Pkg.Callees(x) {
				found = found || next != d && c.mayConflict(next, call, depth+1)
			}
		}
	})
	return found
}

// rereads: the write is inside a retry, or a loop, that reads the object each time.
func (c *Classifier) rereads(s *site.Site) bool {
	paths := pathsOf(s.Fn, s.Object())
	if body := c.repeated(s.Fn, s.Node); body != nil {
		return c.readInside(s.Fn, body, paths)
	}
	// The function itself reads and writes, and is what the retry runs.
	if !c.readInside(s.Fn, s.Fn.Outermost().Body(), paths) {
		return c.argumentReread(s, paths)
	}
	for _, up := range s.Fn.Outermost().CallsSeen() {
		if c.repeated(up.In, up.Expr) != nil {
			return true
		}
	}
	return c.repeatedByName(s.Fn.Outermost())
}

// argumentReread: the object is a parameter, and a caller reads the argument anew in a retry around the call.
func (c *Classifier) argumentReread(s *site.Site, paths []string) bool {
	f := s.Fn.Outermost()
	for i := range f.Type().Params.NumFields() {
		v := f.Param(i)
		if v == nil || !contains(paths, flow.VarPath(v)) {
			continue
		}
		for _, up := range f.CallsSeen() {
			arg := f.Argument(i, up.Expr)
			if arg == nil {
				continue
			}
			if body := c.repeated(up.In, up.Expr); body != nil && c.readInside(up.In, body, pathsOf(up.In, arg)) {
				return true
			}
		}
	}
	return false
}

// repeated is the body that runs again: of a literal handed to a retry or a poll, or of a loop that asks for conflicts.
func (c *Classifier) repeated(f *flow.Func, n ast.Node) ast.Node {
	for p := f.Parent(n); p != nil; p = f.Parent(p) {
		switch x := p.(type) {
		case *ast.FuncLit:
			lit := f.Pkg.FuncAt(x)
			if call, ok := f.Parent(x).(*ast.CallExpr); ok && kube.IsRepeater(f.Pkg.Callee(call)) {
				return x.Body
			}
			if call, ok := f.Parent(x).(*ast.CallExpr); ok && c.runsRepeatedly(f.Pkg, call, x) {
				return x.Body
			}
			if v := lit.HeldBy(); v != nil && handedToRepeater(lit) {
				return x.Body
			}
		case *ast.ForStmt:
			if loopRetries(f, x) {
				return x.Body
			}
		}
	}
	return nil
}

// runsRepeatedly: a function of the program hands its function parameter to a retry.
func (c *Classifier) runsRepeatedly(pkg *flow.Package, call *ast.CallExpr, lit *ast.FuncLit) bool {
	for _, d := range pkg.Callees(call) {
		for i := range d.Signature().Params().Len() {
			if d.Argument(i, call) != ast.Expr(lit) {
				continue
			}
			v := d.Param(i)
			found := false
			ast.Inspect(d.Body(), func(n ast.Node) bool {
				inner, ok := n.(*ast.CallExpr)
				if !ok || found {
					return !found
				}
				if kube.IsRepeater(d.Pkg.Callee(inner)) {
					ast.Inspect(inner, func(m ast.Node) bool {
						if id, ok := m.(*ast.Ident); ok && d.Pkg.Info.Uses[id] == v {
							found = true
						}
						return !found
					})
				}
				return !found
			})
			if found {
				return true
			}
		}
	}
	return false
}

func handedToRepeater(lit *flow.Func) bool {
	v := lit.HeldBy()
	found := false
	ast.Inspect(lit.Outermost().Node(), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && kube.IsRepeater(lit.Pkg.Callee(call)) {
			for _, a := range call.Args {
				found = found || lit.Pkg.Var(a) == v
			}
		}
		return !found
	})
	return found
}

// repeatedByName: a declared function is handed to a retry by name.
func (c *Classifier) repeatedByName(f *flow.Func) bool {
	if !f.UsedAsValue() {
		return false
	}
	for _, g := range f.Pkg.Funcs() {
		if g.Body() == nil {
			continue
		}
		found := false
		g.EachCall(g.Body(), func(call *ast.CallExpr) {
			if kube.IsRepeater(g.Pkg.Callee(call)) {
				for _, a := range call.Args {
					found = found || g.Pkg.FuncOf(a) == f.Obj && f.Obj != nil
				}
			}
		})
		if found {
			return true
		}
	}
	return false
}

// loopRetries: a loop that counts attempts or asks whether the error is a conflict.
func loopRetries(f *flow.Func, loop *ast.ForStmt) bool {
	found := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && kube.IsConflictCheck(f.Pkg.Callee(call)) {
			found = true
		}
		return !found
	})
	return found
}

// readInside: inside body the object is read.
func (c *Classifier) readInside(f *flow.Func, body ast.Node, paths []string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok && !found {
			switch stmt.(type) {
			case *ast.BlockStmt, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.LabeledStmt:
				return true
			}
			found = c.readsInto(f, stmt, paths)
		}
		return !found
	})
	return found
}
