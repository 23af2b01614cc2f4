package class

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/errflow"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// aliased: base and object are the same thing in memory, or nothing can change the object after the base was copied.
func (c *Classifier) aliased(g *Finding, base ast.Expr, merge *ast.CallExpr, fr *flow.Frame, cp *Capture) bool {
	obj := g.Site.Object()
	if obj == nil {
		return false
	}
	if fr.Parent == nil && fr.Below == nil && fr.Fn.Outermost() == g.Site.Fn.Outermost() {
		b, o := fr.Fn.Path(base), g.Site.Fn.Path(obj)
		if b != "" && b == o && !isCopyAt(base, fr) && !c.rebound(g, base, obj, merge, fr.Fn) {
			g.set(AliasedBase, "base and object are the same in memory, so the patch is empty: copy the base before the status changes")
			g.relate(merge.Pos(), "the base is not a copy")
			return true
		}
	}
	if cp == nil || !cp.Whole || len(cp.Segments) == 0 || !copyOfWritten(g, cp) {
		return false
	}
	for _, seg := range cp.Segments {
		if seg.Deferred || len(seg.Paths) == 0 || c.changes(seg) {
			return false
		}
	}
	g.set(AliasedBase, "nothing changes the object between the capture of the base and the patch, so the patch is empty")
	g.relate(cp.Node.Pos(), "the base is captured here")
	return true
}

// copyOfWritten: the capture copies the very object that is written, or makes it.
func copyOfWritten(g *Finding, cp *Capture) bool {
	of, ok := isCopy(cp.Fn.Pkg, cp.Node.(ast.Expr))
	if !ok {
		return false
	}
	p := cp.Fn.Path(of)
	if p == "" {
		return false
	}
	for _, q := range cp.Segments[0].Paths {
		if p == q {
			return true
		}
	}
	return false
}

// rebound: one of the two variables is given another value between the making of the patch and the write.
func (c *Classifier) rebound(g *Finding, base, obj ast.Expr, merge *ast.CallExpr, in *flow.Func) bool {
	for _, e := range []ast.Expr{base, obj} {
		v := rootVar(in.Pkg, e)
		if v == nil || in.Pkg.Owner(v) == nil {
			continue
		}
		if in != g.Site.Fn {
			if len(in.Pkg.Owner(v).AllDefs(v)) > 1 {
				return true
			}
			continue
		}
		bound := false
		in.Between(in.At(merge), in.At(g.Site.Node), func(p flow.Point) {
			if a, ok := p.Node().(*ast.AssignStmt); ok {
				for _, lhs := range a.Lhs {
					bound = bound || in.Pkg.Var(lhs) == v
				}
			}
		})
		if bound {
			return true
		}
	}
	return false
}

func rootVar(pkg *flow.Package, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.Ident:
			return pkg.Var(x)
		default:
			return nil
		}
	}
}

// changes reports whether the object of a segment may change in it. What cannot be seen counts as a change.
func (c *Classifier) changes(seg Segment) bool {
	changed := false
	seg.each(func(p flow.Point) {
		changed = changed || c.nodeChanges(seg.Fn, p.Node(), seg.Paths)
	})
	return changed || c.nodeChanges(seg.Fn, seg.To.Node(), seg.Paths)
}

func (c *Classifier) nodeChanges(f *flow.Func, node ast.Node, paths []string) bool {
	changed := false
	touches := func(e ast.Expr) bool {
		p := f.Path(e)
		for _, q := range paths {
			if p != "" && (flow.Within(p, q) || flow.Within(q, p)) {
				return true
			}
		}
		return false
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if _, plain := ast.Unparen(lhs).(*ast.Ident); !plain && touches(lhs) {
					changed = true
				}
			}
		case *ast.IncDecStmt:
			changed = changed || touches(n.X)
		case *ast.CallExpr:
			changed = changed || c.callChanges(f, n, touches)
		}
		return !changed
	})
	return changed
}

// callChanges: the call gets the object, or a part of it by reference, and is not known to leave it alone.
func (c *Classifier) callChanges(f *flow.Func, call *ast.CallExpr, touches func(ast.Expr) bool) bool {
	fn := f.Pkg.Callee(call)
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && tv.IsType() {
		return false
	}
	if fn == nil {
		if isBuiltin(f.Pkg, call, "delete") || isBuiltin(f.Pkg, call, "copy") || isBuiltin(f.Pkg, call, "clear") {
			return touches(call.Args[0])
		}
		_, lit := ast.Unparen(call.Fun).(*ast.FuncLit)
		tv := f.Pkg.Info.Types[call.Fun]
		return !lit && !tv.IsBuiltin() // a function value may hold on to anything
	}
	if leavesAlone(fn) {
		return false
	}
	for _, a := range call.Args {
		if touches(a) && refers(f.Pkg, a) {
			return true
		}
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
		return touches(sel.X)
	}
	return false
}

func refers(pkg *flow.Package, e ast.Expr) bool {
	t := pkg.TypeOf(e)
	if t == nil {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Struct:
		u, ok := ast.Unparen(e).(*ast.UnaryExpr)
		return ok && u.Op == token.AND
	}
	return true
}

// leavesAlone: functions that are known not to change what they are given.
func leavesAlone(fn *types.Func) bool {
	if kube.IsCopy(fn) {
		return true
	}
	if w, _ := kube.Kind(fn); w != kube.NoWriter {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil && kube.IsRESTRequest(recv.Type()) {
		return true
	}
	name, path := fn.Name(), kube.PkgPath(fn)
	if errflow.IsLogPackage(path, name) || path == "reflect" || path == "fmt" || strings.HasSuffix(path, "api/equality") ||
		strings.HasPrefix(path, kube.ClientPath) || path == "encoding/json" && name == "Marshal" {
		return true
	}
	for _, prefix := range []string{"Get", "Is", "Has", "Contains", "Find", "String", "Equal", "Len"} {
		if strings.HasPrefix(name, prefix) {
			into, _ := kube.IsGet(fn)
			return !into
		}
	}
	return false
}
