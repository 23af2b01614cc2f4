package class

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// transplanted: before the write, a status decided on an older read is put onto the object that was just read, or the
// resourceVersion that was just read onto an older object. Then the lock compares the wrong thing. What callers do to an
// object that they hand over counts, too.
func (c *Classifier) transplanted(g *Finding) bool {
	obj := g.Site.Object()
	if obj == nil || rootPath(g.Site.Fn, obj) == "" {
		return false
	}
	return c.transplantBefore(g, g.Site.Fn, g.Site.Node, pathsOf(g.Site.Fn, obj), 0)
}

func (c *Classifier) transplantBefore(g *Finding, f *flow.Func, node ast.Node, paths []string, depth int) bool {
	found := false
	f.WalkBack(f.At(node), func(p flow.Point) bool {
		found = c.transplantAt(g, f, p, paths)
		return !found
	})
	if found || depth == limits.TransplantCallers {
		return found
	}
	outer := f.Outermost()
	for i := range outer.Type().Params.NumFields() {
		v := outer.Param(i)
		if v == nil || !contains(paths, flow.VarPath(v)) {
			continue
		}
		for _, up := range c.calls.Of(outer) {
			if arg := outer.Argument(i, up.Expr); arg != nil && c.transplantBefore(g, up.In, up.Expr, pathsOf(up.In, arg), depth+1) {
				return true
			}
		}
	}
	return false
}

func (c *Classifier) transplantAt(g *Finding, f *flow.Func, p flow.Point, paths []string) bool {
	found := false
	ast.Inspect(p.Node(), func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit || found {
			return false
		}
		if value := assignsStatus(f, n, paths); value != nil && c.freshAt(f, p, paths) && c.olderStatus(f, value, p, paths) {
			found = true
			g.set(Transplant, "a status decided on an older read is copied onto a fresh object: the write cannot conflict with what happened in between")
			g.relate(n.Pos(), "the older status is copied here")
		}
		if call, ok := n.(*ast.CallExpr); ok && !found {
			found = c.transplantIn(g, f, call, p, paths)
		}
		if q, value := takesVersion(f, n); q != "" && contains(paths, q) && c.freshVersion(f, value, paths) {
			found = true
			g.set(Transplant, "a fresh resourceVersion is copied onto an object that was read earlier: the write cannot conflict with what happened in between")
			g.relate(n.Pos(), "the resourceVersion is copied here")
		}
		return !found
	})
	return found
}

// transplantIn: the call hands the fresh object to code that puts an older status onto it.
func (c *Classifier) transplantIn(g *Finding, f *flow.Func, call *ast.CallExpr, p flow.Point, paths []string) bool {
	for _, b := range bodies(f, call, paths) {
		if older := c.older(f, b, p, paths); older != nil && c.freshAt(f, p, paths) {
			g.set(Transplant, "a status decided on an older read is copied onto a fresh object: the write cannot conflict with what happened in between")
			g.relate(older.Pos(), "the older status is copied here")
			return true
		}
	}
	return false
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// assignsStatus is the value that a node gives to the whole status of one of the objects.
func assignsStatus(f *flow.Func, n ast.Node, paths []string) ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
			return nil
		}
		for i, lhs := range n.Lhs {
			if isStatusOf(f, lhs, paths) {
				return n.Rhs[i]
			}
		}
	case *ast.CallExpr:
		if kube.IsFunc(f.Pkg.Callee(n), kube.UnstructuredPath, "SetNestedField", "SetNestedMap") {
			return setsNestedStatus(f, n, paths)
		}
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "DeepCopyInto" && len(n.Args) == 1 && isStatusOf(f, n.Args[0], paths) {
			return sel.X
		}
	}
	return nil
}

// setsNestedStatus is the value that an unstructured object gets as its whole status.
func setsNestedStatus(f *flow.Func, call *ast.CallExpr, paths []string) ast.Expr {
	if len(call.Args) != 3 {
		return nil
	}
	object, ok := ast.Unparen(call.Args[0]).(*ast.SelectorExpr)
	if !ok || object.Sel.Name != "Object" || !contains(paths, f.Path(object.X)) {
		return nil
	}
	if name, known := site.Constant(call.Args[2], f); !known || name != "status" {
		return nil
	}
	return call.Args[1]
}

func isStatusOf(f *flow.Func, e ast.Expr, paths []string) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Status" && contains(paths, f.Path(sel.X))
}

// freshAt: the object was read in this function, or in a literal around the place, before p.
func (c *Classifier) freshAt(f *flow.Func, p flow.Point, paths []string) bool {
	fresh := false
	f.WalkBack(p, func(q flow.Point) bool {
		fresh = fresh || c.readsInto(f, q.Node(), paths)
		return !fresh
	})
	return fresh
}

// readsInto: a node reads one of the objects from the server or the cache.
func (c *Classifier) readsInto(f *flow.Func, node ast.Node, paths []string) bool {
	for _, ev := range c.tracker.Events(f, node) {
		if ev.Kind == object.Read && contains(paths, ev.Path) && isRead(ev) {
			return true
		}
	}
	a, ok := node.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	_, returns := kube.IsGet(f.Pkg.Callee(call))
	return returns && contains(paths, f.Path(a.Lhs[0]))
}

// isRead tells a read from a create, after which nothing older can exist.
func isRead(ev object.Event) bool {
	into, _ := kube.IsGet(ev.In.Pkg.Callee(ev.Call))
	return into
}

// olderStatus: the value is another object's status, or a status that was there before the fresh read.
func (c *Classifier) olderStatus(f *flow.Func, value ast.Expr, at flow.Point, paths []string) bool {
	value = stripCopy(f, value)
	if sel, ok := ast.Unparen(value).(*ast.SelectorExpr); ok && sel.Sel.Name == "Status" {
		return c.olderObject(f, sel.X, at, paths)
	}
	v := f.Pkg.Var(value)
	if v == nil {
		return false
	}
	if _, content := v.Type().Underlying().(*types.Map); kube.Named(v.Type()) == nil && !content && !types.IsInterface(v.Type()) {
		return false
	}
	return c.olderVar(f, v, at, paths)
}

func stripCopy(f *flow.Func, e ast.Expr) ast.Expr {
	for range 4 {
		e = ast.Unparen(e)
		if of, ok := isCopy(f.Pkg, e); ok {
			e = of
			continue
		}
		switch x := e.(type) {
		case *ast.UnaryExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return e
		}
	}
	return e
}

// olderObject: another object, that was a parameter, a field or read before.
func (c *Classifier) olderObject(f *flow.Func, obj ast.Expr, at flow.Point, paths []string) bool {
	p := rootPath(f, obj)
	if p == "" || contains(paths, p) || contains(paths, f.Path(obj)) {
		return false
	}
	t := f.Pkg.TypeOf(obj)
	if t == nil || !kube.IsObject(t) {
		return false
	}
	if handedOver(f, obj) {
		return true
	}
	for _, v := range flow.Trace(obj, c.frame(f), isCopyAt) {
		switch v.Kind {
		case flow.Parameter, flow.Field, flow.Element, flow.Opaque:
			return true
		case flow.Expression:
			if isCopyAt(v.Expr, v.Frame) {
				of, _ := isCopy(v.Frame.Fn.Pkg, v.Expr)
				// A copy of the fresh object is as fresh as it is.
				if v.Frame.Fn.Outermost() == f.Outermost() && contains(paths, v.Frame.Fn.Path(of)) {
					return false
				}
				return true
			}
			if call, ok := v.Expr.(*ast.CallExpr); ok {
				if _, returns := kube.IsGet(v.Frame.Fn.Pkg.Callee(call)); returns {
					return true
				}
			}
			if c.wasRead(f, p) || v.Frame.Fn != f && v.Frame.Below != nil {
				return true
			}
		case flow.Zero:
			return c.wasRead(f, p)
		}
	}
	return false
}

// handedOver: the object, or what it is a field of, is a parameter that still is what the caller gave.
func handedOver(f *flow.Func, obj ast.Expr) bool {
	v := rootVar(f.Pkg, obj)
	outer := f.Outermost()
	if v == nil || f.Pkg.Owner(v) != outer || len(outer.AllDefs(v)) > 0 {
		return false
	}
	_, param := outer.ParamIndex(v)
	return param
}

// wasRead: somewhere in the declaration the object at path is read.
func (c *Classifier) wasRead(f *flow.Func, path string) bool {
	found := false
	outer := f.Outermost()
	ast.Inspect(outer.Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && !found {
			if into, _ := kube.IsGet(f.Pkg.Callee(call)); into && len(call.Args) > 2 && f.Path(call.Args[2]) == path {
				found = true
			}
		}
		return !found
	})
	return found
}

// olderVar: the status variable had its value before the object was read.
func (c *Classifier) olderVar(f *flow.Func, v *types.Var, at flow.Point, paths []string) bool {
	owner := f.Pkg.Owner(v)
	if owner == nil {
		return false
	}
	if owner != f {
		return true // set around the literal that reads
	}
	if _, param := f.ParamIndex(v); param {
		return true
	}
	defs, _ := f.ReachingDefs(v, at)
	for _, d := range defs {
		if d.Fn != f || d.Rhs == nil {
			continue
		}
		// Between the value and its use lies the read, and no use of the fresh object made the value.
		read := false
		f.Between(f.At(d.Node), at, func(q flow.Point) { read = read || c.readsInto(f, q.Node(), paths) })
		if read && !c.freshAt(f, f.At(d.Node), paths) {
			return true
		}
	}
	return false
}
