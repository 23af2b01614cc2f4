package fix

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/lint/class"
	"github.com/statuspatcher/statuspatcher/lint/kube"
)

const lockMessage = "Add the optimistic lock"

// lock adds MergeFromWithOptimisticLock to the diff that feeds a blind patch. A lock in the wrong place conflicts for
// ever, which is worse than the race, so it is safe only if nothing can write the object after it was read.
func lock(f *class.Finding, s *safety) {
	if f.Merge == nil || f.Class != class.BlindMerge && f.Class != class.DeadRetry {
		return
	}
	call, ok := f.Merge.Expr.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return
	}
	pkg := f.Merge.Frame.Fn.Pkg
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return // dot-imported
	}
	qualifier, ok := sel.X.(*ast.Ident)
	if !ok {
		return
	}
	edits := []class.Edit{{Pos: call.Rparen, End: call.Rparen, Text: ", " + qualifier.Name + ".MergeFromWithOptimisticLock{}"}}
	if _, options := kube.MergeFrom(pkg.Callee(call)); !options {
		edits = append(edits, class.Edit{Pos: sel.Sel.Pos(), End: sel.Sel.End(), Text: "MergeFromWithOptions"})
	}
	safe := pkg == f.Fn.Pkg && !f.Dropped && !usedElsewhere(f, call) && s.freshUntil(f)
	f.Fixes = append(f.Fixes, class.FixEdit{Message: lockMessage, Safe: safe, Edits: edits})
}

// usedElsewhere: the patch is held in a variable that more than this write uses.
func usedElsewhere(f *class.Finding, merge *ast.CallExpr) bool {
	fn := f.Merge.Frame.Fn
	if f.Merge.Frame.Fn.Outermost() != f.Fn.Outermost() {
		return true // made in another function, perhaps for others, too
	}
	var held *ast.Ident
	switch p := fn.Parent(merge).(type) {
	case *ast.AssignStmt:
		if len(p.Lhs) == 1 {
			held, _ = p.Lhs[0].(*ast.Ident)
		}
	case *ast.ValueSpec:
		if len(p.Names) == 1 {
			held = p.Names[0]
		}
	case *ast.CallExpr:
		return p != f.Call
	}
	if held == nil {
		return true
	}
	v := fn.Pkg.Var(held)
	uses := 0
	ast.Inspect(fn.Outermost().Node(), func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && fn.Pkg.Info.Uses[id] == v {
			uses++
		}
		return true
	})
	return uses != 1
}
