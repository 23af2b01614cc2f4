package errflow

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// isErrorType reports whether t is an error: the interface, or a type that implements it.
func isErrorType(t types.Type) bool {
	if t == nil {
		return false
	}
	if kube.IsError(t) {
		return true
	}
	_, named := types.Unalias(t).(*types.Named)
	_, pointer := types.Unalias(t).(*types.Pointer)
	return (named || pointer) && types.Implements(t, errorInterface)
}

// neverNil reports whether an error is made here, or made of one that is not nil.
func (w *walk) neverNil(e ast.Expr, s *state, depth int) bool {
	pkg := w.f.Pkg
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		_, lit := x.X.(*ast.CompositeLit)
		return lit
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		v, ok := pkg.Info.Uses[x].(*types.Var)
		return ok && (s.nonNil[v] || isSentinel(v))
	case *ast.SelectorExpr:
		v, ok := pkg.Info.Uses[x.Sel].(*types.Var)
		return ok && isSentinel(v)
	case *ast.CallExpr:
		return w.callNeverNil(x, s, depth)
	}
	return false
}

// isSentinel: a package variable of type error.
func isSentinel(v *types.Var) bool {
	return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() && isErrorType(v.Type())
}

func (w *walk) callNeverNil(call *ast.CallExpr, s *state, depth int) bool {
	pkg := w.f.Pkg
	if tv, ok := pkg.Info.Types[call.Fun]; ok && tv.IsType() {
		b, basic := tv.Type.Underlying().(*types.Basic)
		return basic && b.Info()&types.IsConstType != 0 || len(call.Args) == 1 && w.neverNil(call.Args[0], s, depth)
	}
	fn := pkg.Callee(call)
	if fn == nil {
		return false
	}
	if decls := pkg.DeclsOf(call); len(decls) > 0 {
		return depth < limits.Makers && w.bodyNeverNil(decls[0], call, s, depth)
	}
	if ignores(fn) {
		return false
	}
	// Code that cannot be seen: what gets an error that is not nil wraps it; a maker of errors gets none.
	gotError := false
	for _, a := range call.Args {
		if isErrorType(pkg.TypeOf(a)) {
			gotError = true
			if w.neverNil(a, s, depth) {
				return true
			}
		}
	}
	return !gotError && makesErrors(fn)
}

// makesErrors: a function without a context, whose name or package says that errors are what it is for. Its code
// cannot be seen.
func makesErrors(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Results().Len() != 1 || sig.Params().Len() == 0 && sig.Recv() != nil {
		return false
	}
	for v := range sig.Params().Variables() {
		if kube.IsContext(v.Type()) {
			return false
		}
	}
	if !kube.IsError(sig.Results().At(0).Type()) {
		return isErrorType(sig.Results().At(0).Type())
	}
	if kube.IsFunc(fn, "fmt", "Errorf") || kube.IsFunc(fn, kube.ReconcilePath, "TerminalError") {
		return true
	}
	name := fn.Name()
	return strings.HasPrefix(name, "New") || strings.HasPrefix(name, "Err") || strings.HasSuffix(name, "Errorf")
}

// ignores: functions that make nil of some errors: client.IgnoreNotFound and those like it.
func ignores(fn *types.Func) bool {
	return fn != nil && (strings.HasPrefix(fn.Name(), "Ignore") || strings.HasPrefix(fn.Name(), "Filter"))
}

// bodyNeverNil: every return of a function in sight gives an error, if it gets the errors that the call gives.
func (w *walk) bodyNeverNil(d *flow.Func, call *ast.CallExpr, s *state, depth int) bool {
	sig := d.Signature()
	if sig == nil || sig.Results().Len() == 0 || d.Graph() == nil {
		return false
	}
	start := newState()
	for i := range sig.Params().Len() {
		v, arg := d.Param(i), d.Argument(i, call)
		if v != nil && arg != nil && isErrorType(v.Type()) && w.neverNil(arg, s, depth+1) {
			start.nonNil[v] = true
		}
	}
	inner := &walk{fo: w.fo, f: d, site: nowhere(d), start: start}
	r := &returns{w: inner, depth: depth + 1, seen: map[string]bool{}}
	r.block(d.Entry().Next(), start)
	return r.some && !r.null
}

// nowhere is a call that no statement of d holds.
func nowhere(d *flow.Func) *ast.CallExpr {
	return &ast.CallExpr{Fun: d.Type(), Rparen: d.Type().Pos()}
}

// returns looks at every way out of a function.
type returns struct {
	w     *walk
	depth int
	seen  map[string]bool
	some  bool // there is a way out
	null  bool // one of them may return nil
}

func (r *returns) block(p flow.Point, s *state) {
	for ; p.InBlock() && !r.null; p = p.Next() {
		switch n := p.Node().(type) {
		case *ast.ReturnStmt:
			r.some = true
			r.null = len(n.Results) == 0 || !r.w.neverNil(n.Results[len(n.Results)-1], s, r.depth)
			return
		case *ast.AssignStmt:
			r.w.learn(n, s, r.depth)
		case ast.Expr:
			if p.Branches() && p.LastInBlock() {
				r.branch(p, n, s)
				return
			}
		}
	}
	for _, next := range p.Successors() {
		r.enter(next, s.clone())
	}
}

func (r *returns) branch(p flow.Point, cond ast.Expr, s *state) {
	yes, no := r.w.truth(cond, s)
	next := p.Successors()
	if yes && len(next) > 0 {
		r.enter(next[0], r.w.knowing(s, cond, token.NEQ))
	}
	if no && len(next) > 1 {
		r.enter(next[1], r.w.knowing(s, cond, token.EQL))
	}
}

func (r *returns) enter(p flow.Point, s *state) {
	key := p.BlockKey() + ":" + s.key()
	if r.seen[key] || len(r.seen) > limits.Arrivals {
		return
	}
	r.seen[key] = true
	r.block(p, s)
}
