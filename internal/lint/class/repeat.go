package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// rereads: the write is inside a retry, or a loop, that reads the object each time.
func (c *Classifier) rereads(s *site.Site) bool {
	paths := pathsOf(s.Fn, s.Object())
	if body := repeated(s.Fn, s.Node); body != nil {
		return c.readInside(s.Fn, body, paths)
	}
	// The function itself reads and writes, and is what the retry runs.
	if !c.readInside(s.Fn, s.Fn.Outermost().Body(), paths) {
		return c.argumentReread(s, paths)
	}
	for _, up := range c.calls.Of(s.Fn.Outermost()) {
		if repeated(up.In, up.Expr) != nil {
			return true
		}
	}
	return runBy(runByName(s.Fn.Outermost()), repeats).IsValid()
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
			if body := repeated(up.In, up.Expr); body != nil && c.readInside(up.In, body, pathsOf(up.In, arg)) {
				return true
			}
		}
	}
	return false
}

// repeated is the body that runs again around a node: of a literal that a retry or a poll gets, or of a loop that asks for conflicts.
func repeated(f *flow.Func, n ast.Node) ast.Node {
	for _, a := range attemptsAround(f, n) {
		_, ranges := a.loop.(*ast.RangeStmt)
		if runBy(a.runs, repeats).IsValid() || a.loop != nil && !ranges && loopRetries(f, a.body) {
			return a.body
		}
	}
	return nil
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
