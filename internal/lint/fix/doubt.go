package fix

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A doubt is why a fix is not made: the place that decides, and what could happen there. A nil doubt means that the fix
// is safe.
type doubt struct {
	pos token.Pos
	why string
}

func doubtAt(n ast.Node, why string) *doubt { return &doubt{pos: n.Pos(), why: why} }

// callText names a call in a message: r.sync(...).
func callText(call *ast.CallExpr) string {
	if _, lit := ast.Unparen(call.Fun).(*ast.FuncLit); lit {
		return "the function literal"
	}
	return types.ExprString(call.Fun)
}
