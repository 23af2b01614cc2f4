package errflow

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// sound is the syntax of a package without what does not type-check: such functions lose their bodies, such variables
// their values.
func sound(pkg *flow.Package) ([]*ast.File, *types.Info) {
	files := slices.Clone(pkg.Files)
	for i, file := range files {
		copied := *file
		copied.Decls = slices.Clone(file.Decls)
		for j, decl := range copied.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil && !checks(pkg, fn) {
				bodyless := *fn
				bodyless.Body = nil
				copied.Decls[j] = &bodyless
			}
		}
		files[i] = &copied
	}
	info := *pkg.Info
	info.InitOrder = slices.DeleteFunc(slices.Clone(info.InitOrder), func(v *types.Initializer) bool { return !checks(pkg, v.Rhs) })
	return files, &info
}

// checks reports whether all that a node names and computes has a type.
func checks(pkg *flow.Package, node ast.Node) bool {
	for _, e := range pkg.TypeErrors {
		if node.Pos() <= e.Pos && e.Pos <= node.End() {
			return false
		}
	}
	ok := true
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BadExpr, *ast.BadStmt, *ast.BadDecl:
			ok = false
		case *ast.Ident:
			switch obj := pkg.Info.ObjectOf(n).(type) {
			case *types.Var, *types.Const, *types.TypeName, *types.Func:
				ok = ok && obj.Type() != types.Typ[types.Invalid]
			}
		case *ast.SelectorExpr:
			_, typed := pkg.Info.Types[n]
			ok = ok && (typed || pkg.Info.Uses[n.Sel] != nil) // a name of another package has no type of its own
		case *ast.CallExpr, *ast.CompositeLit, *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.IndexExpr:
			tv, typed := pkg.Info.Types[n.(ast.Expr)]
			ok = ok && typed && tv.Type != types.Typ[types.Invalid]
		}
		return ok
	})
	return ok
}
