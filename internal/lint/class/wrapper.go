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
		f.unseen(hidden{"the body of the wrapper " + name + " cannot be seen", f.Pos,
			"the wrapper is called here; its body is seen if statuspatcher-lint is run on its package, too"})
		return
	}
	worst := &Finding{Site: s, Fn: s.Fn}
	for _, d := range decls {
		c.wrapped(worst, &flow.Call{Expr: s.Call, In: s.Fn}, d, 0)
	}
	if worst.Class == "" {
		f.unseen(hidden{"no status write was found in the wrapper " + name, decls[0].Node().Pos(),
			"the wrapper is declared here; name the function that calls the client with -wrappers"})
		return
	}
	f.worse(worst)
	f.Kind = worst.Kind
	f.Merge, f.Base = nil, nil // they belong to the write in the body, where they are fixed
	f.relate(worst.Pos, "the wrapper writes here")
}

// wrapped takes over the worst of the status writes that d does when it is called by call.
func (c *Classifier) wrapped(worst *Finding, call *flow.Call, d *flow.Func, depth int) {
	in := *c
	in.calls = c.calls.Only(d, call)
	ast.Inspect(d.Body(), func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if inner := c.sites[x]; inner != nil && inner.Status && !inner.Wrapper {
			g := in.Classify(inner)
			if worst.Class == "" || g.Class.Before(worst.Class) {
				worst.Pos, worst.Kind = g.Pos, g.Kind
			}
			worst.worse(g)
			return true
		}
		if depth < limits.Wrapped {
			for _, next := range d.Pkg.Callees(x) {
				if next != d {
					in.wrapped(worst, &flow.Call{Expr: x, In: d.Enclosing(x)}, next, depth+1)
				}
			}
		}
		return true
	})
}
