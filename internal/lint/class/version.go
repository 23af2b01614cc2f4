package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// freshVersion: the value is the resourceVersion of another object that was read here, while the written one is older.
func (c *Classifier) freshVersion(f *flow.Func, value ast.Expr, at flow.Point, paths []string) bool {
	if v := f.Pkg.Var(value); v != nil && f.Pkg.Owner(v) != nil {
		for _, d := range f.Pkg.Owner(v).AllDefs(v) {
			if d.Rhs != nil && f.Pkg.Var(d.Rhs) == nil && c.freshVersion(d.Fn, d.Rhs, d.Fn.At(d.Node), paths) {
				return true
			}
		}
		return false
	}
	from := versionOf(value)
	if from == nil {
		return false
	}
	p := f.Path(from)
	if p == "" || contains(paths, p) || !c.freshAt(f, at, []string{p}) {
		return false
	}
	return c.olderThan(f, paths)
}

// versionOf is the object whose resourceVersion an expression is.
func versionOf(value ast.Expr) ast.Expr {
	switch x := ast.Unparen(value).(type) {
	case *ast.SelectorExpr:
		if x.Sel.Name != "ResourceVersion" {
			return nil
		}
		if inner, ok := ast.Unparen(x.X).(*ast.SelectorExpr); ok && inner.Sel.Name == "ObjectMeta" {
			return inner.X
		}
		return x.X
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok && sel.Sel.Name == "GetResourceVersion" {
			return sel.X
		}
	}
	return nil
}

// olderThan: the written object is a parameter, a captured variable, or was itself read here.
func (c *Classifier) olderThan(f *flow.Func, paths []string) bool {
	for _, path := range paths {
		if c.wasRead(f, path) {
			return true
		}
		sig := f.Outermost().Signature()
		for i := range sig.Params().Len() {
			if v := f.Outermost().Param(i); v != nil && flow.VarPath(v) == path {
				return true
			}
		}
	}
	return false
}
