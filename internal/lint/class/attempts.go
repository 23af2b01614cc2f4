package class

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// An attempt is code that can run several times: the body of a loop, or of a literal that other code calls.
type attempt struct {
	body *ast.BlockStmt
	loop ast.Stmt     // nil for a literal
	lit  *flow.Func   // nil for a loop
	runs []*flow.Call // the calls that get the literal
}

// attemptsAround are the attempts around a node, from the inside out.
func attemptsAround(f *flow.Func, n ast.Node) []attempt {
	var out []attempt
	for p := f.Parent(n); p != nil; p = f.Parent(p) {
		switch x := p.(type) {
		case *ast.FuncLit:
			lit := f.Pkg.FuncAt(x)
			out = append(out, attempt{body: x.Body, lit: lit, runs: runsOf(lit)})
		case *ast.ForStmt:
			out = append(out, attempt{body: x.Body, loop: x})
		case *ast.RangeStmt:
			out = append(out, attempt{body: x.Body, loop: x})
		}
	}
	return out
}

// runsOf are the calls that get a literal, as it is or by the variable that holds it, and the calls by which functions of the program
// hand it on.
func runsOf(lit *flow.Func) []*flow.Call {
	if call, ok := lit.Parent(lit.Lit).(*ast.CallExpr); ok {
		return handedOn(&flow.Call{Expr: call, In: lit.Outer}, lit.Pkg, func(e ast.Expr) bool { return ast.Unparen(e) == ast.Expr(lit.Lit) })
	}
	v := lit.HeldBy()
	if v == nil {
		return nil
	}
	return callsWith(lit.Outermost(), lit.Outermost().Node(), func(e ast.Expr) bool { return lit.Pkg.Var(e) == v })
}

// callsWith are the calls below a node that get an argument, and those by which functions of the program hand it on.
func callsWith(f *flow.Func, n ast.Node, is func(ast.Expr) bool) []*flow.Call {
	var out []*flow.Call
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for _, a := range call.Args {
				if is(a) {
					out = append(out, handedOn(&flow.Call{Expr: call, In: f}, f.Pkg, is)...)
				}
			}
		}
		return true
	})
	return out
}

// handedOn is a call that gets a function, with the calls of repeaters in its callees that use the parameter.
func handedOn(call *flow.Call, pkg *flow.Package, is func(ast.Expr) bool) []*flow.Call {
	out := []*flow.Call{call}
	for _, d := range pkg.Callees(call.Expr) {
		for i := range d.Signature().Params().Len() {
			arg, v := d.Argument(i, call.Expr), d.Param(i)
			if arg == nil || v == nil || !is(arg) {
				continue
			}
			ast.Inspect(d.Body(), func(n ast.Node) bool {
				if inner, ok := n.(*ast.CallExpr); ok && repeats(d.Pkg, inner) && uses(d.Pkg, inner, v) {
					out = append(out, &flow.Call{Expr: inner, In: d})
				}
				return true
			})
		}
	}
	return out
}

func uses(pkg *flow.Package, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && pkg.Info.Uses[id] == v {
			found = true
		}
		return !found
	})
	return found
}

// runByName are the calls that get a declared function by its name.
func runByName(f *flow.Func) []*flow.Call {
	if !f.UsedAsValue() {
		return nil
	}
	var out []*flow.Call
	for _, g := range f.Pkg.Funcs() {
		if g.Body() != nil && g.Outer == nil {
			out = append(out, callsWith(g, g.Body(), func(e ast.Expr) bool { return f.Obj != nil && f.Pkg.FuncOf(e) == f.Obj })...)
		}
	}
	return out
}

// runBy is the position of the first of the calls whose function repeats what it gets.
func runBy(calls []*flow.Call, repeats func(*flow.Package, *ast.CallExpr) bool) token.Pos {
	for _, c := range calls {
		if repeats(c.In.Pkg, c.Expr) {
			return c.Expr.Pos()
		}
	}
	return token.NoPos
}

// repeats: a retry or a poll, whatever the reason.
func repeats(pkg *flow.Package, call *ast.CallExpr) bool { return kube.IsRepeater(pkg.Callee(call)) }

// retries: a retry of conflicts alone.
func retries(pkg *flow.Package, call *ast.CallExpr) bool { return kube.IsRetry(pkg.Callee(call)) }

// loopRetries: a loop that asks whether the error is a conflict.
func loopRetries(f *flow.Func, body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || kube.IsConflictCheck(f.Pkg.Callee(call))
		}
		return !found
	})
	return found
}

// counts: a loop over a number of attempts.
func counts(pkg *flow.Package, loop *ast.RangeStmt) bool {
	t := pkg.TypeOf(loop.X)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}
