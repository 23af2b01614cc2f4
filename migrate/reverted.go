package migrate

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// reverted: the response to the old write takes an edit of spec or metadata back that a later write of the object would send. A
// Flush leaves such an edit in the object, so that it would land.
func (m *mover) reverted(w *write) *reason {
	f, path := w.Fn, w.Fn.Path(w.Object())
	if path == "" {
		return nil
	}
	var edited ast.Node
	f.WalkBack(f.At(w.Call), func(p flow.Point) bool {
		if edited != nil || m.edits.syncs(f, p.Node(), path) {
			return false
		}
		edited = editsOutside(f, p.Node(), path)
		return edited == nil
	})
	if edited == nil {
		return nil
	}
	var later ast.Node
	f.Walk(f.At(w.Call), func(p flow.Point) bool {
		for _, ev := range m.tracker.Events(f, p.Node()) {
			if ev.Path != path || ev.Call == w.Call {
				continue
			}
			writer, _ := kube.Kind(ev.In.Pkg.Callee(ev.Call))
			if ev.Kind == object.Write && writer == kube.Main && later == nil {
				later = ev.At
			}
			return false
		}
		return later == nil
	})
	if later == nil {
		return nil
	}
	return because(edited, "write the edit before the status, or make it after", "this edit of spec or metadata is taken back by the response to the write, and with a flush a later write would send it")
}

// editsOutside returns what in a node edits spec or metadata of the object at path.
func editsOutside(f *flow.Func, n ast.Node, path string) (found ast.Node) {
	outside := func(e ast.Expr) bool {
		p := pathBelow(f, e)
		return flow.Within(p, path) && p != path && !flow.Within(p, path+".Status")
	}
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case *ast.FuncLit, *ast.DeferStmt:
			return false
		case *ast.AssignStmt:
			for _, lhs := range c.Lhs {
				if _, plain := ast.Unparen(lhs).(*ast.Ident); !plain && outside(lhs) {
					found = c
				}
			}
		case *ast.CallExpr:
			if changesMetadata(f, c, path) {
				found = c
			}
		}
		return found == nil
	})
	return found
}

// changesMetadata: a setter of the object, or a helper of controller-runtime that changes its finalizers or owners.
func changesMetadata(f *flow.Func, call *ast.CallExpr, path string) bool {
	fn := f.Pkg.Callee(call)
	if fn == nil {
		return false
	}
	if kube.PkgPath(fn) == kube.ControllerutilPath && len(call.Args) > 0 {
		switch fn.Name() {
		case "AddFinalizer", "RemoveFinalizer":
			return f.Path(call.Args[0]) == path
		case "SetControllerReference", "SetOwnerReference":
			return len(call.Args) > 1 && f.Path(call.Args[1]) == path
		}
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || fn.Signature().Recv() == nil || f.Path(sel.X) != path {
		return false
	}
	switch fn.Name() {
	case "SetLabels", "SetAnnotations", "SetFinalizers", "SetOwnerReferences", "Default", "SetDefaults":
		return true
	}
	return false
}
