package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"

	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// wrapper classifies the call of a function that the user named: by the status writes in its body, each judged as if this
// call were the only one.
func (c *Classifier) wrapper(f *Finding) {
	s := f.Site
	name := s.Callee.FullName()
	decls := s.Fn.Pkg.Callees(s.Call)
	if len(decls) == 0 {
		f.set(Unknown, "the body of the wrapper "+name+" cannot be seen")
		return
	}
	worst := &Finding{Site: s, Fn: s.Fn}
	for _, d := range decls {
		c.wrapped(worst, &flow.Call{Expr: s.Call, In: s.Fn}, d, 0)
	}
	if worst.Class == "" {
		f.set(Unknown, "no status write was found in the wrapper "+name)
		return
	}
	f.worse(worst)
	f.Kind = worst.Kind
	f.Merge, f.Base = nil, nil // they belong to the write in the body, where they are mended
	f.relate(worst.Pos, "the wrapper writes here")
}

// wrapped takes over the worst of the status writes that d does when it is called by call.
func (c *Classifier) wrapped(worst *Finding, call *flow.Call, d *flow.Func, depth int) {
	defer d.CalledOnlyBy(call)()
	ast.Inspect(d.Body(), func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if inner := c.sites[x]; inner != nil && inner.Status && !inner.Wrapper {
			g := c.Classify(inner)
			if worst.Class == "" || g.Class.Before(worst.Class) {
				worst.Pos, worst.Kind = g.Pos, g.Kind
			}
			worst.worse(g)
			return true
		}
		if depth < limits.Wrapped {
			for _, next := range d.Pkg.Callees(x) {
				if next != d {
					c.wrapped(worst, &flow.Call{Expr: x, In: d.Enclosing(x)}, next, depth+1)
				}
			}
		}
		return true
	})
}
