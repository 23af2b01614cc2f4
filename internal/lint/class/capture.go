package class

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// A Capture is where the base of a diff was taken, and the stretches of code between there and the write.
type Capture struct {
	Node     ast.Node // the copy
	Fn       *flow.Func
	Segments []Segment
	// Whole is false if the base is older than the code that was looked at.
	Whole bool
}

// A Segment is a stretch of one function that runs between capture and write. To the object it gives the names that
// the object has there.
type Segment struct {
	Fn       *flow.Func
	From, To flow.Point
	Site     ast.Node
	Deferred bool // To registers a deferred function: the stretch goes on to the function's end
	Paths    []string
}

func isCopy(pkg *flow.Package, e ast.Expr) (of ast.Expr, ok bool) {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if kube.IsCopy(pkg.Callee(x)) {
			if sel, isSel := ast.Unparen(x.Fun).(*ast.SelectorExpr); isSel {
				return sel.X, true
			}
		}
	case *ast.StarExpr:
		// A struct copied by value.
		if t := pkg.TypeOf(x); t != nil {
			if _, isStruct := t.Underlying().(*types.Struct); isStruct {
				return x.X, true
			}
		}
	}
	return nil, false
}

func isCopyAt(e ast.Expr, fr *flow.Frame) bool {
	_, ok := isCopy(fr.Fn.Pkg, e)
	return ok
}

// copies are the copies that e can be.
func copies(e ast.Expr, fr *flow.Frame) (found []flow.Value, all bool) {
	all = true
	for _, v := range flow.Trace(e, fr, isCopyAt) {
		if v.Expr != nil && v.Kind == flow.Expression && isCopyAt(v.Expr, v.Frame) {
			found = append(found, v)
		} else {
			all = false
		}
	}
	return found, all && len(found) > 0
}

// rootPath is the path of the object that e is, or is a copy of.
func rootPath(f *flow.Func, e ast.Expr) string {
	for range 4 {
		e = ast.Unparen(e)
		if of, ok := isCopy(f.Pkg, e); ok {
			e = of
			continue
		}
		if ta, ok := e.(*ast.TypeAssertExpr); ok {
			e = ta.X
			continue
		}
		if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
			e = u.X
			continue
		}
		v := f.Pkg.Var(e)
		if v == nil || f.Pkg.Owner(v) == nil {
			break
		}
		defs := f.Pkg.Owner(v).AllDefs(v)
		if len(defs) != 1 || defs[0].Rhs == nil || defs[0].Range {
			break
		}
		rhs := ast.Unparen(defs[0].Rhs)
		if ta, ok := rhs.(*ast.TypeAssertExpr); ok {
			rhs = ta.X
		}
		of, ok := isCopy(f.Pkg, rhs)
		if !ok {
			break
		}
		e = of
	}
	return f.Path(e)
}

// segments are the stretches between start in frame fr and the site. The frames lead from fr down to the site's function,
// or fr is a function that the site's function called, and then the call is the start.
func segments(fr *flow.Frame, start ast.Node, s *site.Site, obj ast.Expr) ([]Segment, bool) {
	for fr.Parent != nil {
		start, fr = fr.Call, fr.Parent
	}
	var chain []*flow.Frame
	for p := fr; p != nil; p = p.Below {
		chain = append(chain, p)
	}
	last := chain[len(chain)-1]
	if last.Fn != s.Fn {
		return nil, false
	}
	segs := make([]Segment, len(chain))
	var extra []Segment
	path := pathsOf(s.Fn, obj)
	for i := len(chain) - 1; i >= 0; i-- {
		p := chain[i]
		seg := Segment{Fn: p.Fn, From: p.Fn.Entry(), To: p.Fn.At(s.Node), Site: s.Node, Paths: path}
		if p.Below != nil {
			seg.To, seg.Site = p.Fn.At(p.Site), p.Site
			seg.Paths = lift(path, p)
			if lit, ok := p.Site.(*ast.FuncLit); ok {
				var more []Segment
				seg, more = litSegments(seg, p.Fn.Pkg.FuncAt(lit))
				extra = append(extra, more...)
			}
		}
		if i == 0 {
			seg.From = p.Fn.At(start)
			for k := range extra {
				if extra[k].Fn == p.Fn {
					extra[k].From = seg.From
				}
			}
		}
		segs[i] = seg
		path = seg.Paths
	}
	return append(segs, extra...), segs[0].From.Valid()
}

// litSegments are the stretches to the places where a literal runs: where it stands, or where the variable that holds it is
// called. A literal that is deferred or handed on can run at any time up to the function's end.
func litSegments(seg Segment, lit *flow.Func) (Segment, []Segment) {
	if lit == nil || lit.RunsInPlace() {
		return seg, nil
	}
	calls := lit.CalledAt()
	if len(calls) == 0 {
		seg.Deferred = true
		return seg, nil
	}
	var out []Segment
	for _, call := range calls {
		s := seg
		s.To, s.Site = seg.Fn.At(call), call
		out = append(out, s)
	}
	return out[0], out[1:]
}

func pathsOf(f *flow.Func, e ast.Expr) []string {
	var out []string
	for _, p := range []string{f.Path(e), rootPath(f, e)} {
		if p != "" && (len(out) == 0 || out[0] != p) {
			out = append(out, p)
		}
	}
	return out
}

// lift gives the paths of the function below the names that they have in the function above it.
func lift(paths []string, up *flow.Frame) []string {
	call, ok := up.Site.(*ast.CallExpr)
	if !ok {
		return paths // a literal shares its variables
	}
	below := up.Below.Fn
	sig := below.Signature()
	if sig == nil {
		return nil
	}
	var out []string
	for i := -1; i < sig.Params().Len(); i++ {
		v := below.Param(i)
		if v == nil {
			continue
		}
		for _, p := range paths {
			if root := flow.VarPath(v); flow.Within(p, root) {
				if arg := below.Argument(i, call); arg != nil {
					for _, a := range pathsOf(up.Fn, arg) {
						out = append(out, a+strings.TrimPrefix(p, root))
					}
				}
			}
		}
	}
	if below.Lit != nil {
		out = append(out, paths...)
	}
	return out
}

// each visits the places in a segment.
func (g Segment) each(visit func(flow.Point)) {
	if !g.Deferred {
		g.Fn.Between(g.From, g.To, visit)
		return
	}
	g.Fn.Walk(g.From, func(p flow.Point) bool {
		if p != g.To && (g.Fn.Reaches(p, g.To) || g.Fn.Reaches(g.To, p)) {
			visit(p)
		}
		return true
	})
}

// otherWrite is a write of the object that lies between the capture and the site.
func (c *Classifier) otherWrite(segs []Segment, s *site.Site) *object.Event {
	var found *object.Event
	for _, g := range segs {
		if found != nil {
			break
		}
		look := func(p flow.Point, until token.Pos) {
			for _, ev := range c.tracker.Events(g.Fn, p.Node()) {
				if found == nil && ev.Kind == object.Write && ev.Call != s.Call && (until == token.NoPos || ev.At.End() <= until) && c.same(g, ev) {
					found = &ev
				}
			}
		}
		g.each(func(p flow.Point) { look(p, token.NoPos) })
		if !g.Deferred && g.Site != nil && found == nil {
			look(g.To, g.Site.Pos()) // what the statement of the call itself does before it
		}
	}
	return found
}

// same reports whether an event is on the object of the segment: by name, as a copy of it, or read by its key.
func (c *Classifier) same(g Segment, ev object.Event) bool {
	candidates := []string{ev.Path}
	if ev.Obj != nil && ev.In == g.Fn {
		candidates = append(candidates, rootPath(ev.In, ev.Obj))
	}
	for _, p := range g.Paths {
		for _, q := range candidates {
			if p != "" && p == q {
				return true
			}
		}
	}
	return ev.Obj != nil && ev.In.Outermost() == g.Fn.Outermost() && c.readByKeyOf(g, ev)
}

// readByKeyOf: the written object was read into a variable of its own under the key of the segment's object.
func (c *Classifier) readByKeyOf(g Segment, ev object.Event) bool {
	found := false
	root := rootPath(ev.In, ev.Obj)
	if root == "" {
		return false
	}
	ast.Inspect(ev.In.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		fn := g.Fn.Pkg.Callee(call)
		if into, _ := kube.IsGet(fn); !into || len(call.Args) < 3 {
			return true
		}
		if g.Fn.Path(call.Args[2]) != root {
			return true
		}
		found = keyOf(g.Fn, call.Args[1], g.Paths)
		return true
	})
	return found
}

// keyOf reports whether key is made from an object with one of the paths.
func keyOf(f *flow.Func, key ast.Expr, paths []string) bool {
	for _, v := range flow.Trace(key, &flow.Frame{Fn: f}, nil) {
		call, ok := v.Expr.(*ast.CallExpr)
		if ok && kube.IsFunc(v.Frame.Fn.Pkg.Callee(call), kube.ClientPath, "ObjectKeyFromObject") && len(call.Args) == 1 {
			p := rootPath(v.Frame.Fn, call.Args[0])
			for _, q := range paths {
				if p != "" && p == q {
					return true
				}
			}
		}
	}
	return false
}
