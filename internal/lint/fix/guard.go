package fix

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// isEqual: the comparisons that guards make.
func isEqual(pkg *flow.Package, call *ast.CallExpr) bool {
	fn := pkg.Callee(call)
	if fn == nil || len(call.Args) != 2 {
		return false
	}
	path := kube.PkgPath(fn)
	return fn.Name() == "DeepEqual" && (path == "reflect" || strings.HasPrefix(path, "k8s.io/apimachinery/"))
}

// dropGuard: where a comparison of the object's status with the base's decides about the write alone, the patcher
// decides instead; elsewhere the patcher is asked.
func (m *mover) dropGuard(equal *ast.CallExpr) bool {
	for _, a := range equal.Args {
		if sel, ok := ast.Unparen(a).(*ast.SelectorExpr); !ok || sel.Sel.Name != "Status" {
			return false
		}
	}
	cond, negated := ast.Node(equal), false
	if u, ok := m.fn.Parent(cond).(*ast.UnaryExpr); ok && u.Op == token.NOT {
		cond, negated = u, true
	}
	for _, e := range m.out {
		if e.Pos <= equal.Pos() && equal.End() <= e.End {
			return true // seen by its other argument
		}
	}
	guard, ok := m.fn.Parent(cond).(*ast.IfStmt)
	if ok && negated && guard.Init == nil && guard.Else == nil && ast.Node(guard.Cond) == cond && m.onlyFlush(guard.Body) {
		m.replace(guard.Pos(), guard.Body.List[0].Pos(), "")
		m.replace(guard.Body.List[0].End(), guard.Body.Rbrace+1, "")
		return true
	}
	if ok && !negated && m.returnsLikeFlush(guard) {
		m.dropLine(guard)
		return true
	}
	text := m.patcher + ".Changed()"
	if !negated {
		text = "!" + text
	}
	m.replace(cond.Pos(), cond.End(), text)
	return true
}

// returnsLikeFlush: a guard that only returns what the write after it returns when it succeeds; with nothing to write, Flush
// sends nothing.
func (m *mover) returnsLikeFlush(guard *ast.IfStmt) bool {
	if guard.Init != nil || guard.Else != nil || len(guard.Body.List) != 1 {
		return false
	}
	skip, ok := guard.Body.List[0].(*ast.ReturnStmt)
	block, inBlock := m.fn.Parent(guard).(*ast.BlockStmt)
	if !ok || !inBlock {
		return false
	}
	for i, stmt := range block.List {
		if stmt != ast.Stmt(guard) || i+1 == len(block.List) {
			continue
		}
		ret, ok := block.List[i+1].(*ast.ReturnStmt)
		if !ok || len(ret.Results) == 0 || len(ret.Results) != len(skip.Results) {
			return false
		}
		last := len(ret.Results) - 1
		call, ok := ast.Unparen(ret.Results[last]).(*ast.CallExpr)
		if !ok || !m.isSite(call) || types.ExprString(skip.Results[last]) != "nil" {
			return false
		}
		for j := range last {
			if types.ExprString(ret.Results[j]) != types.ExprString(skip.Results[j]) {
				return false
			}
		}
		return true
	}
	return false
}

// onlyFlush: a block with nothing in it but one write.
func (m *mover) onlyFlush(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	switch s := b.List[0].(type) {
	case *ast.ReturnStmt:
		return false // what comes after the guard would not be reached any more
	case *ast.IfStmt:
		a, ok := s.Init.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return false
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		return ok && m.isSite(call)
	}
	return false
}
