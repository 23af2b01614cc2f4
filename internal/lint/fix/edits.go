package fix

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// edits: the node may change the object at path in memory, or only a part of it, such as ".Status". Whatever gets the object
// or the part may; the client and the functions for finalizers do not.
func edits(fn *flow.Func, path, part string, n ast.Node) bool {
	found := false
	ast.Inspect(n, func(c ast.Node) bool {
		e, ok := c.(ast.Expr)
		if !ok || found {
			return !found
		}
		p := fn.Path(e)
		if p != path && !flow.Within(p, path+part) {
			return true
		}
		found = !looks(fn, e, path+part)
		return false
	})
	return found
}

// looks: the object, or the part of it, is only read where it stands.
func looks(fn *flow.Func, e ast.Expr, part string) bool {
	switch p := fn.Parent(e).(type) {
	case *ast.SelectorExpr:
		if fn.Path(p) == "" {
			return kube.IsCopy(fn.Pkg.FuncOf(p)) || isGetter(fn.Pkg.FuncOf(p))
		}
		return !assigned(fn, p) || !flow.Within(fn.Path(p), part)
	case *ast.BinaryExpr, *ast.IfStmt:
		return true
	case *ast.UnaryExpr:
		return p.Op != token.AND || looks(fn, p, part)
	case *ast.AssignStmt:
		return !assigned(fn, e) && isBasic(fn.Pkg.TypeOf(e))
	case *ast.CallExpr:
		if tv, ok := fn.Pkg.Info.Types[p.Fun]; ok && tv.IsBuiltin() || isBasic(fn.Pkg.TypeOf(e)) {
			return true
		}
		callee := fn.Pkg.Callee(p)
		w, _ := kube.Kind(callee)
		return w != kube.NoWriter || kube.IsFinalizerHelper(callee)
	}
	return false
}

func isBasic(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

func isGetter(fn *types.Func) bool {
	return fn != nil && fn.Signature().Params().Len() == 0 && fn.Signature().Results().Len() == 1
}

func assigned(fn *flow.Func, e ast.Expr) bool {
	a, ok := fn.Parent(e).(*ast.AssignStmt)
	if !ok {
		_, inc := fn.Parent(e).(*ast.IncDecStmt)
		return inc
	}
	for _, lhs := range a.Lhs {
		if lhs == e {
			return true
		}
	}
	return false
}
