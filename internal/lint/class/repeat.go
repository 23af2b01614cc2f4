package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

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
	for _, up := range c.calls.Of(s.Fn.Outermost()) {
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
		for _, up := range c.calls.Of(f) {
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
			if loopRetries(f, x.Body) {
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
func loopRetries(f *flow.Func, body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
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
