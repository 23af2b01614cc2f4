package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// Path names the variable, and the fields below it, that e stands for: two expressions with one path are one object as
// long as no variable on the way is given another value. Empty if e is no such thing. Variables that are only another
// name for an expression (y := x.f, y := &x, a case of a type switch) have that expression's path.
func (f *Func) Path(e ast.Expr) string { return f.path(e, 0) }

func (f *Func) path(e ast.Expr, depth int) string {
	if depth > limits.Path {
		return ""
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return f.identPath(x, depth)
	case *ast.SelectorExpr:
		return f.selectorPath(x, depth)
	case *ast.StarExpr:
		return f.path(x.X, depth+1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return f.path(x.X, depth+1)
		}
	case *ast.TypeAssertExpr:
		return f.path(x.X, depth+1)
	case *ast.IndexExpr:
		base := f.path(x.X, depth+1)
		if base == "" {
			return ""
		}
		if tv, ok := f.Pkg.Info.Types[x.Index]; ok && tv.Value != nil {
			return base + "[" + tv.Value.ExactString() + "]"
		}
		if i := f.path(x.Index, depth+1); i != "" {
			return base + "[" + i + "]"
		}
	case *ast.CallExpr:
		if tv, ok := f.Pkg.Info.Types[x.Fun]; ok && tv.IsType() && len(x.Args) == 1 {
			return f.path(x.Args[0], depth+1)
		}
		// A getter: a method without arguments that a plain value answers.
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok && len(x.Args) == 0 && !strings.HasPrefix(sel.Sel.Name, "DeepCopy") && f.Pkg.FuncOf(sel) != nil {
			if base := f.path(sel.X, depth+1); base != "" {
				return base + "." + sel.Sel.Name + "()"
			}
		}
	}
	return ""
}

func (f *Func) identPath(id *ast.Ident, depth int) string {
	v := f.Pkg.Var(id)
	if v == nil {
		return ""
	}
	if x := f.Pkg.switchOf[v]; x != nil {
		return f.path(x, depth+1)
	}
	if alias := f.aliasOf(v); alias != nil {
		if p := f.path(alias, depth+1); p != "" {
			return p
		}
	}
	return VarPath(v)
}

// VarPath is the path of a variable.
func VarPath(v *types.Var) string {
	return v.Name() + "#" + strconv.Itoa(int(v.Pos()))
}

func (f *Func) selectorPath(x *ast.SelectorExpr, depth int) string {
	v, ok := f.Pkg.Info.Uses[x.Sel].(*types.Var)
	if !ok {
		return ""
	}
	if !v.IsField() {
		return VarPath(v)
	}
	base := f.path(x.X, depth+1)
	if base == "" {
		return ""
	}
	return base + "." + x.Sel.Name
}

// aliasOf is the expression that v is another name for: its one and only value, if that is a reference.
func (f *Func) aliasOf(v *types.Var) ast.Expr {
	owner := f.Pkg.owner[v]
	if owner == nil {
		return nil
	}
	if _, isParam := owner.ParamIndex(v); isParam {
		return nil
	}
	defs := owner.AllDefs(v)
	if len(defs) == 2 && defs[0].Rhs == nil {
		// `var x T` followed by the one assignment is a definition, too; but not a safe one across branches.
		return nil
	}
	if len(defs) != 1 || defs[0].Rhs == nil || defs[0].Range {
		return nil
	}
	rhs := ast.Unparen(defs[0].Rhs)
	if defs[0].Index > 0 {
		return nil
	}
	switch x := rhs.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.TypeAssertExpr, *ast.IndexExpr:
		// A struct that is copied by value is another object.
		if !isReference(f.Pkg.TypeOf(rhs)) {
			return nil
		}
		return rhs
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			if _, lit := ast.Unparen(x.X).(*ast.CompositeLit); !lit {
				return rhs
			}
		}
	case *ast.CallExpr:
		if tv, ok := f.Pkg.Info.Types[x.Fun]; ok && tv.IsType() {
			return rhs
		}
	}
	return nil
}

func isReference(t types.Type) bool {
	if t == nil {
		return false
	}
	if tup, ok := t.(*types.Tuple); ok {
		return tup.Len() > 0 && isReference(tup.At(0).Type())
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Slice, *types.Map:
		return true
	}
	return false
}

// Within reports whether path is base itself or something below it.
func Within(path, base string) bool {
	if base == "" || !strings.HasPrefix(path, base) {
		return false
	}
	return len(path) == len(base) || path[len(base)] == '.' || path[len(base)] == '['
}
