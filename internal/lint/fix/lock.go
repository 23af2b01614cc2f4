package fix

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

const (
	lockMessage = "Add the optimistic lock"
	lockOption  = "MergeFromWithOptimisticLock"
)

// lock adds MergeFromWithOptimisticLock to the diff that feeds a blind patch. A lock in the wrong place conflicts
// forever, which is worse than the race, so it is safe only if nothing can write the object after it was read.
func lock(f *class.Finding, s *safety) {
	if f.Merge == nil || f.Class != class.BlindMerge && f.Class != class.DeadRetry {
		return
	}
	call, ok := f.Merge.Expr.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return
	}
	pkg := f.Merge.Frame.Fn.Pkg
	edits := lockEdits(pkg, call)
	if edits == nil {
		return
	}
	doubt := lockDoubt(f, s, call)
	f.Fixes = append(f.Fixes, suggestion(class.LockAdded, lockMessage, doubt, edits))
}

// suggestion is a fix that is made only if there is no doubt.
func suggestion(kind class.FixKind, message string, d *doubt, edits []class.Edit) class.FixEdit {
	if d == nil {
		return class.FixEdit{Kind: kind, Message: message, Safe: true, Edits: edits}
	}
	return class.FixEdit{Kind: kind, Message: message, Doubt: d.why, DoubtPos: d.pos, Edits: edits}
}

// lockDoubt is why the lock is only suggested; nil where it is safe.
func lockDoubt(f *class.Finding, s *safety, merge *ast.CallExpr) *doubt {
	switch {
	case f.Merge.Frame.Fn.Pkg != f.Fn.Pkg:
		return doubtAt(merge, "the patch is made in another package, and may be used by other writes")
	case f.Dropped:
		return doubtAt(f.Site.Node, droppedDoubt)
	case usedElsewhere(f, merge):
		return doubtAt(merge, "the patch is used by other writes, too")
	}
	return s.freshUntil(f)
}

const droppedDoubt = "the write's error is dropped, so that a conflict would lose the status"

// lockEdits add the option to a call that makes a diff; nil where the call does not say by which name it is imported.
func lockEdits(pkg *flow.Package, merge *ast.CallExpr) []class.Edit {
	sel, ok := ast.Unparen(merge.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil // dot-imported
	}
	qualifier, ok := sel.X.(*ast.Ident)
	if !ok {
		return nil
	}
	edits := []class.Edit{{Pos: merge.Rparen, End: merge.Rparen, Text: ", " + qualifier.Name + "." + lockOption + "{}"}}
	if _, options := kube.MergeFrom(pkg.Callee(merge)); !options {
		edits = append(edits, class.Edit{Pos: sel.Sel.Pos(), End: sel.Sel.End(), Text: "MergeFromWithOptions"})
	}
	return edits
}

// lockedText is such a call with the option, and whether it has it already; empty where it cannot be written.
func lockedText(pkg *flow.Package, merge *ast.CallExpr) (text string, locked bool) {
	for _, a := range merge.Args[1:] {
		if kube.IsLockOption(pkg.TypeOf(a)) {
			return types.ExprString(merge), true
		}
	}
	sel, ok := ast.Unparen(merge.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	name := sel.Sel.Name
	if _, options := kube.MergeFrom(pkg.Callee(merge)); !options {
		name = "MergeFromWithOptions"
	}
	qualifier := types.ExprString(sel.X)
	text = qualifier + "." + name + "("
	for _, a := range merge.Args {
		text += types.ExprString(a) + ", "
	}
	return text + qualifier + "." + lockOption + "{})", false
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
