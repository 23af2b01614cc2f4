package fix

import (
	"go/ast"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// itemOf is the loop around node, the only one, whose variable tells which item of a list the path stands for; nil for any
// other object.
func itemOf(f *flow.Func, node ast.Node, path string) *ast.RangeStmt {
	var loop *ast.RangeStmt
	for n := f.Parent(node); n != nil && n != f.Node(); n = f.Parent(n) {
		switch n := n.(type) {
		case *ast.ForStmt:
			return nil
		case *ast.RangeStmt:
			if loop != nil || !itemPath(f, n, path) {
				return nil
			}
			loop = n
		}
	}
	return loop
}

func itemPath(f *flow.Func, loop *ast.RangeStmt, path string) bool {
	if loop.Value != nil {
		if v := f.Pkg.Var(loop.Value); v != nil && flow.Within(path, flow.VarPath(v)) {
			return true
		}
	}
	if loop.Key == nil || f.Pkg.Var(loop.Key) == nil || f.Path(loop.X) == "" {
		return false
	}
	return strings.HasPrefix(path, f.Path(loop.X)+"["+flow.VarPath(f.Pkg.Var(loop.Key))+"]")
}

// listFresh: the list was read in this function, and since then nothing can have written its items but the loop itself,
// each item in its own turn.
func (s *safety) listFresh(f *flow.Func, loop *ast.RangeStmt, item subject) *doubt {
	list := item.in(f.Path(loop.X))
	if list.path == "" {
		return s.open(doubtAt(loop, notRead))
	}
	var found *doubt
	inLoop := list
	inLoop.others = item.path
	w := s.writes(inLoop, f)
	f.Walk(f.At(loop.X), func(p flow.Point) bool {
		if inside := within(loop.Body, p.Node()); inside && found == nil {
			found = w.at(f, p.Node())
		}
		return found == nil
	})
	w = s.writes(list, f)
	entry := f.WalkBack(f.At(loop.X), func(p flow.Point) bool {
		if found != nil || lists(f, p.Node(), list.path) {
			return false
		}
		found = w.at(f, p.Node())
		return found == nil
	})
	if found == nil && entry {
		return s.open(doubtAt(loop, "where the list was read cannot be seen, and a lock on an old version conflicts forever"))
	}
	return found
}

// lists: the node reads the list whose items are at path.
func lists(f *flow.Func, n ast.Node, path string) bool {
	found := false
	ast.Inspect(n, func(c ast.Node) bool {
		if call, ok := c.(*ast.CallExpr); ok && kube.IsList(f.Pkg.Callee(call)) && len(call.Args) > 1 {
			found = found || flow.Within(path, f.Path(call.Args[1]))
		}
		return !found
	})
	return found
}
