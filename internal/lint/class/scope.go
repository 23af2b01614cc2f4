package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// outOfScope classifies what is not a status write.
func (c *Classifier) outOfScope(s *site.Site) (Class, string) {
	if s.Subresource != "" || s.Writer == kube.SubResource {
		return Subresource, "writes the subresource " + s.Subresource
	}
	if s.Verb == kube.Apply || s.Patch() != nil && object.IsApply(s.Fn, s.Patch()) {
		return Child, "applies an object server-side"
	}
	obj := s.Object()
	if obj == nil {
		return Spec, "writes the main resource"
	}
	switch touched := c.touched(s, obj); {
	case touched.finalizers:
		return Finalizer, "writes the object's finalizers"
	case touched.metadata && !touched.spec:
		return Metadata, "writes the object's metadata"
	}
	return Spec, "writes the main resource"
}

type touch struct{ finalizers, metadata, spec bool }

// touched says which parts of the object the function changes before the write.
func (c *Classifier) touched(s *site.Site, obj ast.Expr) touch {
	var t touch
	paths := pathsOf(s.Fn, obj)
	f := s.Fn.Outermost()
	ast.Inspect(f.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				t.part(f, lhs, paths)
			}
		case *ast.CallExpr:
			fn := f.Pkg.Callee(n)
			if fn == nil {
				return true
			}
			on := n.Args
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
				on = append([]ast.Expr{sel.X}, on...)
			}
			for _, a := range on {
				if !contains(paths, f.Path(a)) {
					continue
				}
				switch fn.Name() {
				case "AddFinalizer", "RemoveFinalizer", "SetFinalizers":
					t.finalizers = true
				case "SetLabels", "SetAnnotations", "SetOwnerReferences", "SetOwnerReference", "SetControllerReference", "RemoveOwnerReference":
					t.metadata = true
				}
			}
		}
		return true
	})
	return t
}

func (t *touch) part(f *flow.Func, lhs ast.Expr, paths []string) {
	for e := ast.Unparen(lhs); ; {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = ast.Unparen(x.X)
			continue
		case *ast.SelectorExpr:
			on := x.X
			if inner, ok := ast.Unparen(on).(*ast.SelectorExpr); ok && inner.Sel.Name == "ObjectMeta" {
				on = inner.X
			}
			if contains(paths, f.Path(on)) {
				switch x.Sel.Name {
				case "Finalizers":
					t.finalizers = true
				case "Labels", "Annotations", "OwnerReferences":
					t.metadata = true
				case "Spec":
					t.spec = true
				}
				return
			}
			e = ast.Unparen(x.X)
			continue
		}
		return
	}
}
