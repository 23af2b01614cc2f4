package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// freshVersion: the value is the resourceVersion of another object that was read here, or by a function that returns it,
// while the written one is older.
func (c *Classifier) freshVersion(f *flow.Func, value ast.Expr, paths []string) bool {
	if !c.olderThan(f, paths) {
		return false
	}
	// A variable may have been given its value in an earlier attempt of a retry, so its every value counts.
	if v := f.Pkg.Var(value); v != nil && f.Pkg.Owner(v) != nil {
		for _, d := range f.Pkg.Owner(v).AllDefs(v) {
			if d.Rhs != nil && f.Pkg.Var(d.Rhs) == nil && d.Index <= 0 && c.freshValue(d.Fn, d.Rhs, f, paths) {
				return true
			}
		}
	}
	return c.freshValue(f, value, f, paths)
}

// freshValue: in function in, an expression is the resourceVersion of an object other than the written one that was read
// before.
func (c *Classifier) freshValue(in *flow.Func, value ast.Expr, f *flow.Func, paths []string) bool {
	for _, v := range flow.Trace(value, c.frame(in), isVersion) {
		if v.Expr == nil {
			continue
		}
		g := v.Frame.Fn
		from := versionOf(v.Expr)
		if from == nil {
			continue
		}
		p := g.Path(from)
		if p == "" || g.Outermost() == f.Outermost() && contains(paths, p) {
			continue
		}
		if c.freshAt(g, g.At(v.Expr), []string{p}) {
			return true
		}
	}
	return false
}

func isVersion(e ast.Expr, _ *flow.Frame) bool { return versionOf(e) != nil }

// versionOf is the object whose resourceVersion, or whose metadata, an expression is.
func versionOf(value ast.Expr) ast.Expr {
	switch x := ast.Unparen(value).(type) {
	case *ast.SelectorExpr:
		if x.Sel.Name == "ResourceVersion" || x.Sel.Name == "ObjectMeta" {
			return versionHolder(x)
		}
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok && sel.Sel.Name == "GetResourceVersion" {
			return sel.X
		}
	case *ast.StarExpr:
		return versionOf(x.X)
	}
	return nil
}

// versionHolder is the object of obj.ResourceVersion, obj.ObjectMeta or obj.ObjectMeta.ResourceVersion.
func versionHolder(sel *ast.SelectorExpr) ast.Expr {
	if inner, ok := ast.Unparen(sel.X).(*ast.SelectorExpr); ok && inner.Sel.Name == "ObjectMeta" {
		return inner.X
	}
	return sel.X
}

// takesVersion is the object that a node gives a resourceVersion, alone or with all metadata, and the value.
func takesVersion(f *flow.Func, n ast.Node) (path string, value ast.Expr) {
	if path, value = setsVersion(f, n); path != "" {
		return path, value
	}
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != len(a.Rhs) {
		return "", nil
	}
	for i, lhs := range a.Lhs {
		if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && sel.Sel.Name == "ObjectMeta" && versionOf(a.Rhs[i]) != nil {
			return f.Path(sel.X), a.Rhs[i]
		}
	}
	return "", nil
}

// olderThan: the written object is a parameter, a captured variable, or was itself read here.
func (c *Classifier) olderThan(f *flow.Func, paths []string) bool {
	for _, path := range paths {
		if c.wasRead(f, path) {
			return true
		}
		sig := f.Outermost().Signature()
		for i := 0; sig != nil && i < sig.Params().Len(); i++ {
			if v := f.Outermost().Param(i); v != nil && flow.VarPath(v) == path {
				return true
			}
		}
	}
	return false
}
