package fix

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// finalizers rewrites the idiom that adds or removes a finalizer, and updates the object if that changed it, to
// PatchMetadata: behind the patcher's back such an Update makes every Flush after it conflict. Only where nothing else
// of the object was edited before, since PatchMetadata sends metadata alone.
func (m *mover) finalizers() bool {
	m.moved = map[*ast.CallExpr]bool{}
	ast.Inspect(m.fn.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IfStmt:
			if i := m.finalizerIdiom(n); i != nil && m.unedited(n.Cond) {
				m.moveFinalizer(n, i)
				return false
			}
		}
		return true
	})
	return true
}

// finalizerIdiom is what an if statement comes to that does nothing but that.
type finalizerIdiom struct {
	change *ast.CallExpr // controllerutil.AddFinalizer(obj, name)
	update *ast.CallExpr
	check  *ast.IfStmt
}

// finalizerIdiom: `if AddFinalizer(obj, x) { if err := Update... }`, or `if !ContainsFinalizer(obj, x) { AddFinalizer(obj, x);
// if err := Update... }`, and the same with RemoveFinalizer.
func (m *mover) finalizerIdiom(outer *ast.IfStmt) *finalizerIdiom {
	if outer.Init != nil || outer.Else != nil || !inBlock(m.fn, outer) {
		return nil
	}
	cond := ast.Unparen(outer.Cond)
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond = ast.Unparen(not.X)
	}
	i, body := &finalizerIdiom{}, outer.Body.List
	i.change = m.finalizerCall(cond)
	if i.change != nil && m.fn.Pkg.Callee(i.change).Name() == "ContainsFinalizer" {
		stmt, ok := body[0].(*ast.ExprStmt)
		if len(body) != 2 || !ok {
			return nil
		}
		name := types.ExprString(i.change.Args[1])
		if i.change = m.finalizerCall(stmt.X); i.change == nil || types.ExprString(i.change.Args[1]) != name {
			return nil
		}
		body = body[1:]
	} else if cond != ast.Unparen(outer.Cond) {
		return nil
	}
	if i.change == nil || len(body) != 1 || m.fn.Pkg.Callee(i.change).Name() == "ContainsFinalizer" {
		return nil
	}
	i.check, _ = body[0].(*ast.IfStmt)
	if i.check == nil || i.check.Else != nil {
		return nil
	}
	i.update = m.updateOf(i.check)
	if i.update == nil {
		return nil
	}
	return i
}

// finalizerCall is a call of controllerutil on the object, with a name that has no effects.
func (m *mover) finalizerCall(e ast.Expr) *ast.CallExpr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !kube.IsFinalizerHelper(m.fn.Pkg.Callee(call)) || len(call.Args) != 2 || rootIdent(m.fn.Pkg, call.Args[0]) != m.obj {
		return nil
	}
	switch ast.Unparen(call.Args[1]).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.BasicLit:
		if !mentions(m.fn.Pkg, call.Args[1], m.obj) {
			return call
		}
	}
	return nil
}

// updateOf is the Update of the object in `if err := c.Update(ctx, obj); err != nil`, by the client that read it.
func (m *mover) updateOf(check *ast.IfStmt) *ast.CallExpr {
	a, ok := check.Init.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.DEFINE || !isNotNil(m.fn.Pkg, check.Cond, m.fn.Pkg.Var(a.Lhs[0])) {
		return nil
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	w, verb := kube.Kind(m.fn.Pkg.Callee(call))
	if w != kube.Main || verb != kube.Update || len(call.Args) != 2 || rootIdent(m.fn.Pkg, call.Args[1]) != m.obj || clientOf(m.fn, call) != m.client {
		return nil
	}
	return call
}

// unedited: from the read to node the object is only looked at.
func (m *mover) unedited(node ast.Node) bool {
	ok := true
	m.fn.Between(m.fn.At(m.get), m.fn.At(node), func(p flow.Point) { ok = ok && !edits(m.fn, m.path, "", p.Node()) })
	return ok
}

func (m *mover) moveFinalizer(outer *ast.IfStmt, i *finalizerIdiom) {
	m.moved[i.update] = true
	err := types.ExprString(i.check.Init.(*ast.AssignStmt).Lhs[0])
	name := m.obj.Name()
	change := types.ExprString(i.change.Fun) + "(" + name + ", " + types.ExprString(i.change.Args[1]) + ")"
	m.replace(outer.Pos(), i.check.Body.Lbrace, "if _, "+err+" := "+m.patcher+".PatchMetadata("+types.ExprString(i.update.Args[0])+
		", func("+name+" *"+m.typeName()+") { "+change+" }); "+err+" != nil ")
	m.replace(i.check.End(), outer.End(), "")
	m.requeue(m.fn, i.check, err)
}
