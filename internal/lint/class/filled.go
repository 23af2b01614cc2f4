package class

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// filled: between its making and the write the object is read, gets a resourceVersion, or is handed to code that may
// fill it in.
func (c *Classifier) filled(v flow.Value, path string, s *site.Site) bool {
	f := v.Frame.Fn
	filled := false
	start := f.At(v.Expr)
	if v.Expr == nil || !start.Valid() {
		start = f.Entry()
	}
	f.Walk(start, func(p flow.Point) bool {
		filled = filled || c.nodeFills(f, p.Node(), path, 0) && !skipped(v.Frame, p.Node())
		return !filled
	})
	if !filled && f != s.Fn && f.Outermost() == s.Fn.Outermost() {
		s.Fn.WalkBack(s.Fn.At(s.Node), func(p flow.Point) bool {
			filled = filled || c.nodeFills(s.Fn, p.Node(), path, 0)
			return !filled
		})
	}
	return filled
}

// filledAbove: the functions that get the object returned fill it, or do with it what cannot be followed.
func (c *Classifier) filledAbove(v flow.Value, s *site.Site) bool {
	fr := v.Frame
	for ; fr.Parent != nil; fr = fr.Parent {
		up := flow.Value{Expr: fr.Call, Frame: fr.Parent}
		if path := heldPath(fr.Parent.Fn, fr.Call); path != "" && c.filled(up, path, s) {
			return true
		}
	}
	return fr != v.Frame && c.filledBelow(flow.Value{Frame: fr}, s)
}

// filledBelow: on the way down to the write a function reads into its parameter, or gives it a resourceVersion.
func (c *Classifier) filledBelow(v flow.Value, s *site.Site) bool {
	for fr := v.Frame.Below; fr != nil; fr = fr.Below {
		sig := fr.Fn.Signature()
		if sig == nil {
			return true
		}
		to := fr.Fn.At(s.Node)
		if fr.Below != nil {
			to = fr.Fn.At(fr.Site)
		}
		for i := -1; i < sig.Params().Len(); i++ {
			p := fr.Fn.Param(i)
			if p == nil || !types.IsInterface(p.Type()) && !kube.IsObject(p.Type()) {
				continue
			}
			path, filled := flow.VarPath(p), false
			fr.Fn.WalkBack(to, func(q flow.Point) bool {
				filled = filled || c.nodeFills(fr.Fn, q.Node(), path, 0)
				return !filled
			})
			if filled {
				return true
			}
		}
	}
	return false
}

// nodeFills reports whether a node fills the object at path; depth is how many functions deep it stands.
func (c *Classifier) nodeFills(f *flow.Func, node ast.Node, path string, depth int) bool {
	for _, ev := range c.tracker.Events(f, node) {
		if ev.Kind == object.Read && ev.Path == path {
			return true
		}
	}
	fills := false
	ast.Inspect(node, func(n ast.Node) bool {
		if fills {
			return false
		}
		if p, value := setsVersion(f, n); p == path && !isEmptyString(f.Pkg, value) {
			fills = true
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
				if ok && (sel.Sel.Name == "ObjectMeta" || sel.Sel.Name == "Object") && f.Path(sel.X) == path && i < len(n.Rhs) {
					if _, lit := ast.Unparen(n.Rhs[i]).(*ast.CompositeLit); !lit {
						fills = true
					}
				}
			}
		case *ast.CallExpr:
			fills = fills || c.callFills(f, n, path, depth)
		}
		return true
	})
	return fills
}

// callFills: the whole object goes to a call that is not known to leave its resourceVersion alone.
func (c *Classifier) callFills(f *flow.Func, call *ast.CallExpr, path string, depth int) bool {
	fn := f.Pkg.Callee(call)
	if fn == nil || leavesAlone(fn) || kube.PkgPath(fn) == kube.ControllerutilPath {
		return fn == nil && f.Pkg.Var(call.Fun) != nil && argIs(f, call, path)
	}
	if !argIs(f, call, path) {
		return false
	}
	decls := f.Pkg.DeclsOf(call)
	if len(decls) == 0 {
		return !strings.HasPrefix(fn.Name(), "Set") && !strings.HasPrefix(fn.Name(), "Add") && !strings.HasPrefix(fn.Name(), "Mark")
	}
	for _, d := range decls {
		for i := range d.Signature().Params().Len() {
			arg, v := d.Argument(i, call), d.Param(i)
			if arg == nil || f.Path(arg) != path || v == nil || depth > limits.Fills {
				continue
			}
			filled := false
			ast.Inspect(d.Body(), func(n ast.Node) bool {
				if stmt, ok := n.(ast.Stmt); ok {
					if _, block := stmt.(*ast.BlockStmt); !block && !filled {
						filled = c.nodeFills(d, stmt, flow.VarPath(v), depth+1)
						return false
					}
				}
				return !filled
			})
			if filled {
				return true
			}
		}
	}
	return false
}

func argIs(f *flow.Func, call *ast.CallExpr, path string) bool {
	for _, a := range call.Args {
		if f.Path(a) == path {
			return true
		}
	}
	return false
}
