package errflow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// resultDropped is the caller of f that drops the result by which f asks for another attempt. A result that is given to
// a variable counts as used where the variable is used at all.
func (fo *Follower) resultDropped(f *flow.Func) (token.Pos, bool) {
	index := resultIndex(f.Signature())
	if index < 0 || f.Lit != nil || f.UsedAsValue() || kube.IsReconcile(f.Obj) {
		return token.NoPos, false
	}
	for _, c := range fo.Calls.Of(f) {
		if c.In != f && dropsResult(c, index) {
			return c.Expr.Pos(), true
		}
	}
	return token.NoPos, false
}

// resultIndex is the place of the reconcile result among the results; -1 without one.
func resultIndex(sig *types.Signature) int {
	for i := 0; sig != nil && i < sig.Results().Len(); i++ {
		if kube.IsResult(sig.Results().At(i).Type()) {
			return i
		}
	}
	return -1
}

func dropsResult(c *flow.Call, index int) bool {
	switch p := c.In.Parent(c.Expr).(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return true
	case *ast.AssignStmt:
		if len(p.Rhs) != 1 || index >= len(p.Lhs) {
			return false
		}
		id, ok := ast.Unparen(p.Lhs[index]).(*ast.Ident)
		return ok && id.Name == "_"
	}
	return false
}
