package class

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/errflow"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// staleRetry is the retry whose attempts all write the object as it was read before the first one: each of them gets
// the conflict of the first. NoPos if there is none, or if an attempt may read the object.
func (c *Classifier) staleRetry(s *site.Site) token.Pos {
	obj := s.Object()
	if obj == nil {
		return token.NoPos
	}
	if body, pos := conflictRetry(s.Fn, s.Node); body != nil {
		if c.sameEachTime(s.Fn, body, obj) {
			return pos
		}
		return token.NoPos
	}
	return c.staleRetryAbove(s, obj)
}

// staleRetryAbove: the object is a parameter that the function does not read into, and a caller retries the call with
// one argument.
func (c *Classifier) staleRetryAbove(s *site.Site, obj ast.Expr) token.Pos {
	f := s.Fn.Outermost()
	sig := f.Signature()
	if sig == nil || f.Body() == nil || s.Fn != f || !c.sameEachTime(f, f.Body(), obj) {
		return token.NoPos
	}
	for i := range sig.Params().Len() {
		v := f.Param(i)
		if v == nil || !contains(pathsOf(s.Fn, obj), flow.VarPath(v)) {
			continue
		}
		for _, up := range c.calls.Of(f) {
			arg := f.Argument(i, up.Expr)
			if arg == nil || up.In.Outermost() == f {
				continue
			}
			if body, pos := conflictRetry(up.In, up.Expr); body != nil && c.sameEachTime(up.In, body, arg) {
				return pos
			}
		}
	}
	return token.NoPos
}

// conflictRetry is what runs again after a conflict around a node, and where it says so.
func conflictRetry(f *flow.Func, n ast.Node) (body *ast.BlockStmt, pos token.Pos) {
	for _, a := range attemptsAround(f, n) {
		if pos := runBy(a.runs, errflow.RetriesConflicts); pos.IsValid() {
			return a.body, pos
		}
		if loop, ranges := a.loop.(*ast.RangeStmt); a.loop != nil && (!ranges || counts(f.Pkg, loop)) && loopRetries(f, a.body) {
			return a.body, a.loop.Pos()
		}
	}
	return nil, token.NoPos
}

// sameEachTime: body writes an object that is made outside of it, neither reads it nor replaces it, and hands it to
// nothing that might.
func (c *Classifier) sameEachTime(f *flow.Func, body ast.Node, obj ast.Expr) bool {
	v := c.originalVar(f, body, obj)
	if v == nil {
		return false
	}
	paths := append(pathsOf(f, obj), flow.VarPath(v))
	same := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				same = same && !replaces(f, lhs, v, paths)
			}
		case *ast.CallExpr:
			same = same && !c.mayRefresh(f, n, paths)
		}
		return same
	})
	return same && !c.readInside(f, body, paths)
}

// originalVar is the variable outside of body that the object is, or is a copy of; nil if the object is made inside.
func (c *Classifier) originalVar(f *flow.Func, body ast.Node, obj ast.Expr) *types.Var {
	v := rootVar(f.Pkg, obj)
	for range 4 {
		if v == nil {
			return nil
		}
		if v.Pos() < body.Pos() || v.Pos() >= body.End() {
			return v
		}
		defs := f.Pkg.Owner(v).AllDefs(v)
		if len(defs) != 1 || defs[0].Rhs == nil {
			return nil
		}
		of, ok := isCopy(f.Pkg, defs[0].Rhs)
		if !ok {
			return nil
		}
		v = rootVar(f.Pkg, of)
	}
	return nil
}

// replaces: an assignment to the variable itself, to what it points to, or to its metadata.
func replaces(f *flow.Func, lhs ast.Expr, v *types.Var, paths []string) bool {
	if star, ok := ast.Unparen(lhs).(*ast.StarExpr); ok {
		lhs = star.X
	}
	if f.Pkg.Var(lhs) == v {
		return true
	}
	sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "ObjectMeta" || sel.Sel.Name == "ResourceVersion") && contains(paths, f.Path(versionHolder(sel)))
}

// mayRefresh: a call gets the object and may read it anew: its code cannot be seen, and it gets a client or a context.
func (c *Classifier) mayRefresh(f *flow.Func, call *ast.CallExpr, paths []string) bool {
	fn := f.Pkg.Callee(call)
	if fn != nil && (leavesAlone(fn) || len(f.Pkg.DeclsOf(call)) > 0) {
		return setsVersionOf(f, call, paths)
	}
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return false
	}
	gets := false
	for _, a := range call.Args {
		gets = gets || contains(paths, f.Path(a))
	}
	sig, ok := f.Pkg.TypeOf(call.Fun).(*types.Signature)
	return gets && (!ok || sig.Params().Len() > 1)
}

func setsVersionOf(f *flow.Func, call *ast.CallExpr, paths []string) bool {
	p, _ := setsVersion(f, call)
	return p != "" && contains(paths, p)
}
