package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// apply classifies a server-side apply of status: an object, or an apply configuration.
func (c *Classifier) apply(f *Finding, obj ast.Expr) {
	const blind = "the applied status carries no resourceVersion: field managers keep writers apart, but a decision made on an older read still lands"
	if obj == nil {
		f.unseen(hidden{"what is applied cannot be found among the arguments", f.Pos,
			"the call spreads its arguments, or gets no object; an object or an apply configuration as an argument is seen"})
		return
	}
	if kube.HasMethod(f.Site.Fn.Pkg.TypeOf(obj), "GetResourceVersion") {
		c.applyObject(f, obj, blind)
	} else {
		c.applyConfiguration(f, obj, blind)
	}
	if f.Site.Patch() == nil {
		c.finish(f)
	}
}

// applyObject: an object that is applied must have no managed fields; one that was read and stripped of them keeps its
// resourceVersion unless that is stripped, too.
func (c *Classifier) applyObject(f *Finding, obj ast.Expr, blind string) {
	o := c.origin(f.Site, obj)
	switch {
	case o.blind != "":
		f.set(BlindApply, blind)
		f.relate(o.pos, "the object is made here")
	case o.made:
		f.set(Locked, "the applied object carries a resourceVersion")
	case c.stripsManagedFields(f, obj):
		f.set(Locked, "the applied object was read, and its resourceVersion is still in it")
	case o.hidden.there():
		f.unseen(o.hidden)
	default:
		f.set(Locked, "the applied object was read, and its resourceVersion is still in it")
	}
}

func (c *Classifier) stripsManagedFields(f *Finding, obj ast.Expr) bool {
	fn := f.Site.Fn
	paths := pathsOf(fn, obj)
	found := false
	ast.Inspect(fn.Outermost().Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == "SetManagedFields" && contains(paths, fn.Path(sel.X))
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "ManagedFields" {
					continue
				}
				on := sel.X
				if inner, ok := ast.Unparen(on).(*ast.SelectorExpr); ok && inner.Sel.Name == "ObjectMeta" {
					on = inner.X
				}
				found = found || contains(paths, fn.Path(on))
			}
		}
		return !found
	})
	return found
}

// applyConfiguration: a chain of With calls, perhaps made by other functions of the program.
func (c *Classifier) applyConfiguration(f *Finding, obj ast.Expr, blind string) {
	slice := newSlice()
	slice.expr(obj, c.frame(f.Site.Fn), 0)
	switch {
	case slice.version || c.setsVersionLater(f, obj):
		f.set(Locked, "the apply configuration carries a resourceVersion")
	case slice.param != nil:
		f.unseen(hidden{"the apply configuration is the parameter " + slice.param.Name() + ", whose callers cannot be seen", slice.param.Pos(),
			"the parameter is declared here; its callers are seen if statuspatcher-lint is run on the packages that call it"})
	default:
		f.set(BlindApply, blind)
	}
}

// setsVersionLater: WithResourceVersion is called on the configuration after it was made.
func (c *Classifier) setsVersionLater(f *Finding, obj ast.Expr) bool {
	fn := f.Site.Fn
	paths := pathsOf(fn, obj)
	found := false
	ast.Inspect(fn.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		found = found || ok && sel.Sel.Name == "WithResourceVersion" && contains(paths, fn.Path(sel.X))
		return !found
	})
	return found
}
