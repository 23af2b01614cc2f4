package class

import (
	"go/ast"
	"go/constant"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// update classifies a write of the whole status.
func (c *Classifier) update(f *Finding) {
	o := c.origin(f.Site, f.Site.Object())
	switch {
	case c.transplanted(f):
	case o.blind != "":
		f.set(BlindUpdate, o.blind)
		f.relate(o.pos, "the object is made here")
	case c.rereads(f.Site):
		f.set(Refetch, "each attempt of the retry reads the object again and decides again")
	default:
		f.set(Update, "the object still has the resourceVersion that it was read with")
	}
	c.finish(f)
}

// origin is what the sources of a written object say about its resourceVersion.
type origin struct {
	blind  string // why it has none; empty unless the code shows it
	pos    token.Pos
	hidden hidden // the code that it comes from, if that cannot be seen
	made   bool   // some source is made here and never read
}

func (c *Classifier) origin(s *site.Site, obj ast.Expr) origin {
	var o origin
	if obj == nil {
		return origin{hidden: comesFrom(s.Node)}
	}
	if path := s.Fn.Path(obj); path != "" && c.clearedBefore(s, path) {
		return origin{blind: "the object's resourceVersion is cleared before the write, so nothing is compared", pos: s.Node.Pos()}
	}
	c.sources(s, obj, c.frame(s.Fn), &o, 0)
	return o
}

func (c *Classifier) sources(s *site.Site, e ast.Expr, fr *flow.Frame, o *origin, depth int) {
	for _, v := range flow.Trace(e, fr, isCopyAt) {
		switch {
		case v.Kind == flow.Zero:
			// A variable of the object's own type is filled later, or not at all.
			if v.Frame.Fn == s.Fn {
				c.made(s, e, v, o)
			}
		case v.Kind == flow.Parameter || v.Kind == flow.Opaque:
			o.hidden = comesFromValue(v, e)
		case v.Kind != flow.Expression || v.Expr == nil:
		case isCopyAt(v.Expr, v.Frame) && depth < limits.Copies:
			of, _ := isCopy(v.Frame.Fn.Pkg, v.Expr)
			if path := copyPath(v); path == "" || !c.filled(v, path, s) {
				c.sources(s, of, v.Frame, o, depth+1)
			}
		default:
			c.source(s, v, o)
		}
	}
}

// comesFrom is an object that a node in sight gets from code out of sight.
func comesFrom(n ast.Node) hidden {
	return hidden{"the object comes from code that cannot be seen; whether it carries a resourceVersion is not known", n.Pos(),
		"the object comes from here; an object that is read, or made, in the packages that are looked at is seen"}
}

func comesFromValue(v flow.Value, e ast.Expr) hidden {
	h := comesFrom(e)
	if v.Var != nil {
		h.pos = v.Var.Pos()
	}
	return h
}

// copyPath is the path of the variable that a copy is put into.
func copyPath(v flow.Value) string { return heldPath(v.Frame.Fn, v.Expr) }

// heldPath is the path of the variable that an expression's value is put into.
func heldPath(f *flow.Func, e ast.Expr) string {
	var n ast.Node = e
	for range 4 {
		switch p := f.Parent(n).(type) {
		case *ast.ParenExpr, *ast.UnaryExpr, *ast.TypeAssertExpr:
			n = p
		case *ast.AssignStmt:
			for i, rhs := range p.Rhs {
				if ast.Node(rhs) == n && i < len(p.Lhs) {
					return f.Path(p.Lhs[i])
				}
			}
			return ""
		case *ast.ValueSpec:
			for i, rhs := range p.Values {
				if ast.Node(rhs) == n && i < len(p.Names) {
					return f.Path(p.Names[i])
				}
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

func (c *Classifier) source(s *site.Site, v flow.Value, o *origin) {
	pkg := v.Frame.Fn.Pkg
	switch x := v.Expr.(type) {
	case *ast.CompositeLit:
		c.made(s, x, v, o)
	case *ast.CallExpr:
		if isBuiltin(pkg, x, "new") {
			c.made(s, x, v, o)
			return
		}
		o.hidden = comesFrom(x)
	}
}

// made is an object that the code makes: blind unless something gives it a resourceVersion before it is written.
func (c *Classifier) made(s *site.Site, e ast.Expr, v flow.Value, o *origin) {
	f := v.Frame.Fn
	if contentFromElsewhere(e) {
		o.hidden = comesFrom(e)
		return
	}
	o.made = true
	if t := f.Pkg.TypeOf(e); t != nil && !kube.IsObject(t) && kube.StatusField(t) == nil {
		o.hidden = comesFrom(e) // an interface's zero value, a wrapper
		return
	}
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		if bringsVersion(f, lit) {
			return
		}
	}
	path := heldPath(f, e)
	if v.Kind == flow.Zero {
		path = f.Path(e)
	}
	if path != "" && c.filled(v, path, s) || c.filledAbove(v, s) {
		return
	}
	if c.filledBelow(v, s) {
		return
	}
	o.blind = "the object is made by the code and never read, so it has no resourceVersion: custom resources refuse it, built-in kinds overwrite"
	o.pos = e.Pos()
}

// contentFromElsewhere: an unstructured object gets its content whole, from what is no literal.
func contentFromElsewhere(e ast.Expr) bool {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, el := range lit.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Name == "Object" {
			_, made := ast.Unparen(kv.Value).(*ast.CompositeLit)
			return !made
		}
	}
	return false
}

// bringsVersion: the literal copies another object's metadata, or sets a resourceVersion.
func bringsVersion(f *flow.Func, lit *ast.CompositeLit) bool {
	brings := false
	ast.Inspect(lit, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return !brings
		}
		id, ok := kv.Key.(*ast.Ident)
		if !ok {
			// An unstructured object's map.
			if tv := f.Pkg.Info.Types[kv.Key]; tv.Value != nil && tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == "resourceVersion" {
				brings = true
			}
			return !brings
		}
		switch id.Name {
		case "ResourceVersion":
			brings = !isEmptyString(f.Pkg, kv.Value)
		case "ObjectMeta":
			if meta, isLit := ast.Unparen(kv.Value).(*ast.CompositeLit); !isLit || meta == nil {
				brings = true
			}
		}
		return !brings
	})
	return brings
}

// clearedBefore: the resourceVersion is cleared in the writing function, and not set or read again before the write.
func (c *Classifier) clearedBefore(s *site.Site, path string) bool {
	cleared := false
	s.Fn.WalkBack(s.Fn.At(s.Node), func(p flow.Point) bool {
		done := false
		for _, ev := range c.tracker.Events(s.Fn, p.Node()) {
			if ev.Path == path && ev.Kind == object.Read {
				done = true
			}
		}
		ast.Inspect(p.Node(), func(n ast.Node) bool {
			if q, value := setsVersion(s.Fn, n); q == path {
				done = true
				cleared = cleared || isEmptyString(s.Fn.Pkg, value)
			}
			return !done
		})
		return !done
	})
	return cleared
}
