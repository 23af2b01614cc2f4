package class

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// shallow: the base is a struct that was copied by value, and the status is changed through a slice, a map or a pointer
// that the copy shares: the diff does not see that change.
func (c *Classifier) shallow(g *Finding, cp *Capture) bool {
	if cp == nil || !cp.Whole {
		return false
	}
	if _, star := ast.Unparen(cp.Node.(ast.Expr)).(*ast.StarExpr); !star || !copyOfWritten(g, cp) {
		return false
	}
	for _, seg := range cp.Segments {
		var shared ast.Node
		seg.each(func(p flow.Point) {
			if shared == nil {
				shared = changesShared(seg.Fn, p.Node(), seg.Paths)
			}
		})
		if shared != nil {
			g.set(AliasedBase, "the base is a shallow copy, so this change of what it shares with the object is not in the patch: copy with DeepCopy")
			g.relate(cp.Node.Pos(), "the base is captured here")
			g.relate(shared.Pos(), "what both share is changed here")
			return true
		}
	}
	return false
}

// changesShared is what a node changes behind a slice, a map or a pointer of the object's status.
func changesShared(f *flow.Func, node ast.Node, paths []string) ast.Node {
	var found ast.Node
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if found == nil && behindReference(f, lhs, paths) {
					found = n
				}
			}
		case *ast.IncDecStmt:
			if found == nil && behindReference(f, n.X, paths) {
				found = n
			}
		case *ast.CallExpr:
			if found == nil && changesElements(f, n, paths) {
				found = n
			}
		}
		return found == nil
	})
	return found
}

// behindReference: obj.Status.List[i].Field, *obj.Status.Pointer, obj.Status.Pointer.Field.
func behindReference(f *flow.Func, lhs ast.Expr, paths []string) bool {
	shared := false
	for e := ast.Unparen(lhs); ; {
		switch x := e.(type) {
		case *ast.IndexExpr:
			if t := f.Pkg.TypeOf(x.X); t != nil {
				_, array := t.Underlying().(*types.Array)
				shared = shared || !array
			}
			e = ast.Unparen(x.X)
		case *ast.StarExpr:
			shared = shared || !contains(paths, f.Path(x.X))
			e = ast.Unparen(x.X)
		case *ast.SelectorExpr:
			if x.Sel.Name == "Status" && contains(paths, f.Path(x.X)) {
				return shared
			}
			if t := f.Pkg.TypeOf(x.X); t != nil {
				_, pointer := t.Underlying().(*types.Pointer)
				shared = shared || pointer
			}
			e = ast.Unparen(x.X)
		default:
			return false
		}
	}
}

// changesElements: a function of apimachinery that edits the conditions which are there already.
func changesElements(f *flow.Func, call *ast.CallExpr, paths []string) bool {
	fn := f.Pkg.Callee(call)
	if fn == nil || fn.Name() != "SetStatusCondition" || len(call.Args) != 2 {
		return false
	}
	u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(u.X).(*ast.SelectorExpr)
	return ok && isStatusOf(f, sel.X, paths)
}
