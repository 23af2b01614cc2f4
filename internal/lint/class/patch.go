package class

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// patch classifies a write by the client.Patch that it sends. Where several patches can reach it, the worst counts.
func (c *Classifier) patch(f *Finding, patch ast.Expr) {
	fr := c.frame(f.Site.Fn)
	worst := &Finding{Site: f.Site, Fn: f.Fn}
	for _, v := range flow.Trace(patch, fr, convertsToPatch) {
		if v.Kind == flow.Zero || isNilExpr(v.Expr) {
			continue // a declaration before the branches that assign it
		}
		if v.Expr != nil && never(v.Frame, v.Expr) {
			continue // under a flag that no caller sets
		}
		g := &Finding{Site: f.Site, Fn: f.Fn}
		c.patchValue(g, v)
		worst.worse(g)
	}
	if worst.Class == "" {
		worst.unseen(hidden{"the patch's source cannot be traced", patch.Pos(),
			"only nil, or what no caller chooses, was found for this; a patch that is made beside the write is seen"})
	}
	f.worse(worst)
	c.finish(f)
}

func isNilExpr(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

func (c *Classifier) patchValue(g *Finding, v flow.Value) {
	switch v.Kind {
	case flow.Parameter:
		g.unseen(hidden{"the patch is the parameter " + v.Var.Name() + " of " + funcName(v.Frame.Fn) + ", whose callers cannot be seen", v.Var.Pos(),
			"the parameter is declared here; its callers are seen if statuspatcher-lint is run on the packages that call it"})
		return
	case flow.Field:
		g.unseen(hidden{"the patch is the field " + v.Var.Name() + ", which other code sets", v.Expr.Pos(),
			"the field is read here; a patch that is made in this package is seen"})
		return
	case flow.Global:
		c.globalPatch(g, v)
		return
	case flow.Element, flow.Opaque:
		at := g.Site.Patch().Pos()
		if v.Expr != nil {
			at = v.Expr.Pos()
		}
		g.unseen(hidden{"the patch's source cannot be traced", at,
			"it is an element of this, or comes through more calls than are followed; a patch that is made beside the write is seen"})
		return
	}
	pkg := v.Frame.Fn.Pkg
	call, ok := v.Expr.(*ast.CallExpr)
	if (!ok || convertsToPatch(call, v.Frame)) && c.ownPatch(g, v) {
		return
	}
	if !ok {
		g.unseen(hidden{"the patch has the type " + typeName(pkg.TypeOf(v.Expr)) + ", whose Data method decides what is sent", v.Expr.Pos(),
			"the patch is made here; a Data method in the packages that are looked at is seen"})
		return
	}
	fn := pkg.Callee(call)
	if merge, _ := kube.MergeFrom(fn); merge && len(call.Args) > 0 {
		g.Merge = &v
		c.mergeFrom(g, call, v)
		return
	}
	if kube.IsRawPatch(fn) && len(call.Args) == 2 {
		c.raw(g, call.Args[0], call.Args[1], v.Frame)
		return
	}
	g.unseen(hidden{"the patch is made by " + callName(call) + ", whose code cannot be seen", call.Pos(),
		"this call makes it; a function of the packages that are looked at, or client.MergeFromWithOptions here, is seen"})
}

// globalPatch is client.Apply, client.Merge or a variable of somebody's own.
func (c *Classifier) globalPatch(g *Finding, v flow.Value) {
	switch {
	case kube.PkgPath(v.Var) == kube.ClientPath && v.Var.Name() == "Apply":
		c.apply(g, g.Site.Object())
	case kube.PkgPath(v.Var) == kube.ClientPath && v.Var.Name() == "Merge":
		c.rawMerge(g)
	default:
		g.unseen(hidden{"the patch is the package variable " + v.Var.Name() + ", which any code can set", v.Expr.Pos(),
			"the variable is read here; a patch that is made in the function that writes is seen"})
	}
}

// mergeFrom is a diff against a base.
func (c *Classifier) mergeFrom(g *Finding, call *ast.CallExpr, v flow.Value) {
	locked, why := lockOf(call, v.Frame)
	base := call.Args[0]
	capture := c.capture(g.Site, base, call, v.Frame)
	g.Base = capture
	switch {
	case c.transplanted(g):
	case capture.stale(c, g):
	case c.aliased(g, base, call, v.Frame, capture):
	case c.shallow(g, capture):
	case why.there():
		g.unseen(why)
	case locked:
		g.set(Locked, "the base's resourceVersion is in the patch")
	case c.clearedOnBaseOnly(g.Site, base, v.Frame):
		g.set(Locked, "the resourceVersion was cleared on the base, so the diff carries the object's")
	default:
		g.set(BlindMerge, "the merge patch carries no resourceVersion: it overwrites what another reconcile wrote since the base was read")
		g.relate(call.Pos(), "the patch is made here, without client.MergeFromWithOptimisticLock")
	}
}

// lockOf says whether a MergeFromWithOptions asks for the lock; why is what hides it.
func lockOf(call *ast.CallExpr, fr *flow.Frame) (locked bool, why hidden) {
	pkg := fr.Fn.Pkg
	if _, options := kube.MergeFrom(pkg.Callee(call)); !options {
		return false, hidden{}
	}
	for _, arg := range call.Args[1:] {
		if kube.IsLockOption(pkg.TypeOf(arg)) {
			return true, hidden{}
		}
		l, w := lockIn(arg, fr)
		if l {
			return true, hidden{}
		}
		if w.there() {
			why = w
		}
	}
	return false, why
}

func lockIn(arg ast.Expr, fr *flow.Frame) (locked bool, why hidden) {
	unseen := hidden{"whether the merge options ask for the lock cannot be seen", arg.Pos(),
		"these options come from elsewhere; client.MergeFromWithOptimisticLock{} in this call is seen"}
	for _, v := range flow.Trace(arg, fr, nil) {
		pkg := v.Frame.Fn.Pkg
		switch {
		case v.Expr != nil && never(v.Frame, v.Expr):
		case v.Expr != nil && kube.IsLockOption(pkg.TypeOf(v.Expr)):
			return true, hidden{}
		case v.Expr != nil && ownOption(pkg.TypeOf(v.Expr)):
			why = hidden{"whether the option " + typeName(pkg.TypeOf(v.Expr)) + " sets the lock is decided in its method ApplyToMergeFrom", v.Expr.Pos(),
				"the option is made here; client.MergeFromWithOptimisticLock{} beside it is seen"}
		case v.Kind == flow.Zero:
		case v.Kind == flow.Expression:
			lit, isLit := v.Expr.(*ast.CompositeLit)
			appended, isCall := v.Expr.(*ast.CallExpr)
			switch {
			case isLit:
				for _, e := range lit.Elts {
					if kube.IsLockOption(pkg.TypeOf(e)) {
						return true, hidden{}
					}
				}
			case isCall && isBuiltin(pkg, appended, "append"):
				for _, e := range appended.Args[1:] {
					if kube.IsLockOption(pkg.TypeOf(e)) {
						return true, hidden{}
					}
				}
			default:
				why = unseen
			}
		default:
			why = unseen
		}
	}
	return false, why
}

// ownOption: a concrete type of somebody's own that is a merge option.
func ownOption(t types.Type) bool {
	return t != nil && !types.IsInterface(t) && kube.HasMethod(t, "ApplyToMergeFrom")
}

func isBuiltin(pkg *flow.Package, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := pkg.Info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// capture finds where the base was taken: a copy of the object, or the object of which the written one is a copy.
func (c *Classifier) capture(s *site.Site, base ast.Expr, merge *ast.CallExpr, fr *flow.Frame) *Capture {
	obj := s.Object()
	if obj == nil {
		return nil
	}
	if found, all := copies(base, fr); all {
		if c.fieldOlder(found, s) {
			return olderCapture(s, found[0])
		}
		cp := &Capture{Node: found[0].Expr, Fn: found[0].Frame.Fn}
		for _, v := range found {
			segs, whole := segments(v.Frame, v.Expr, s, obj)
			if len(segs) == 0 {
				return olderCapture(s, v) // taken in code that this write is not called from: kept in a field
			}
			cp.Segments = append(cp.Segments, segs...)
			cp.Whole = whole
		}
		return cp
	}
	if found, all := copies(obj, c.frame(s.Fn)); all && len(found) == 1 {
		v := found[0]
		of, _ := isCopy(v.Frame.Fn.Pkg, v.Expr)
		if p := v.Frame.Fn.Path(of); p != "" && p == fr.Fn.Path(base) {
			segs, whole := segments(v.Frame, v.Expr, s, obj)
			return &Capture{Node: v.Expr, Fn: v.Frame.Fn, Segments: segs, Whole: whole}
		}
	}
	// The base is older than this function: a field, or something that cannot be followed.
	for _, v := range flow.Trace(base, fr, isCopyAt) {
		if v.Expr != nil && isField(v.Frame.Fn, v.Expr) {
			return olderCapture(s, v)
		}
	}
	return &Capture{Node: merge, Fn: fr.Fn}
}

// fieldOlder: the base copies a field that is not the written object: a snapshot that somebody took before.
func (c *Classifier) fieldOlder(found []flow.Value, s *site.Site) bool {
	for _, v := range found {
		of, _ := isCopy(v.Frame.Fn.Pkg, v.Expr)
		if !isField(v.Frame.Fn, stripCopy(v.Frame.Fn, of)) {
			return false
		}
		p := v.Frame.Fn.Path(of)
		for fr := v.Frame; fr != nil; fr = fr.Parent {
			if fr.Fn == s.Fn && contains(pathsOf(s.Fn, s.Object()), p) {
				return false
			}
		}
	}
	return true
}

func isField(f *flow.Func, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := f.Pkg.Info.Uses[sel.Sel].(*types.Var)
	return ok && v.IsField()
}

// olderCapture is a base that was there before the writing function was called: what its callers do before counts.
func olderCapture(s *site.Site, v flow.Value) *Capture {
	cp := &Capture{Node: v.Expr, Fn: v.Frame.Fn}
	obj := s.Object()
	paths := []string{}
	for _, src := range objectParams(s.Fn, obj) {
		paths = append(paths, flow.VarPath(src))
	}
	paths = append(paths, pathsOf(s.Fn, obj)...)
	cp.Segments = append(cp.Segments, Segment{Fn: s.Fn, From: s.Fn.Entry(), To: s.Fn.At(s.Node), Site: s.Node, Paths: paths})
	for _, up := range v.Frame.Calls.Of(s.Fn.Outermost()) {
		fr := &flow.Frame{Fn: up.In, Calls: v.Frame.Calls, Below: &flow.Frame{Fn: s.Fn.Outermost()}, Site: up.Expr}
		if lifted := lift(paths, fr); len(lifted) > 0 {
			cp.Segments = append(cp.Segments, Segment{Fn: up.In, From: up.In.Entry(), To: up.In.At(up.Expr), Site: up.Expr, Paths: lifted})
		}
	}
	return cp
}

// objectParams are the parameters of f that an object is, or is a copy of.
func objectParams(f *flow.Func, obj ast.Expr) []*types.Var { return object.Params(f, obj) }

// stale: another write of the object lies between the capture and this write.
func (cp *Capture) stale(c *Classifier, g *Finding) bool {
	if cp == nil {
		return false
	}
	ev := c.otherWrite(cp.Segments, g.Site)
	if ev == nil {
		return false
	}
	g.set(StaleBase, "the object is written between the capture of the base and this patch: with the lock this patch conflicts every time, without it it is blind")
	g.relate(cp.Node.Pos(), "the base is captured here")
	g.relate(ev.Call.Pos(), "the object is written here")
	return true
}

// clearedOnBaseOnly: a diff from a base without resourceVersion to an object that has one carries it.
func (c *Classifier) clearedOnBaseOnly(s *site.Site, base ast.Expr, fr *flow.Frame) bool {
	o := s.Fn.Path(s.Object())
	if o == "" || clears(c.frame(s.Fn), o) {
		return false
	}
	if b := fr.Fn.Path(base); b != "" && b != o && clears(fr, b) {
		return true
	}
	found, all := copies(base, fr)
	for _, v := range found {
		held := copyPath(v)
		all = all && held != "" && held != o && clears(v.Frame, held)
	}
	return all
}

// clears reports whether a function sets the resourceVersion of the object at path to nothing, each time.
func clears(fr *flow.Frame, path string) bool {
	f, found := fr.Fn, false
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		if p, value := setsVersion(f, n); p != "" && p == path && isEmptyString(f.Pkg, value) && !skipped(fr, n) {
			found = true
		}
		return !found
	})
	return found
}

// setsVersion is the object whose resourceVersion a node sets, and the value.
func setsVersion(f *flow.Func, n ast.Node) (path string, value ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "ResourceVersion" || len(n.Rhs) != len(n.Lhs) {
				continue
			}
			on := sel.X
			if inner, ok := ast.Unparen(on).(*ast.SelectorExpr); ok && inner.Sel.Name == "ObjectMeta" {
				on = inner.X
			}
			return f.Path(on), n.Rhs[i]
		}
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && sel.Sel.Name == "SetResourceVersion" && len(n.Args) == 1 {
			return f.Path(sel.X), n.Args[0]
		}
	}
	return "", nil
}

func isEmptyString(pkg *flow.Package, e ast.Expr) bool {
	tv, ok := pkg.Info.Types[e]
	return ok && tv.Value != nil && tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == ""
}

func funcName(f *flow.Func) string {
	if o := f.Outermost(); o.Decl != nil {
		return o.Decl.Name.Name
	}
	return "a function literal"
}

func callName(call *ast.CallExpr) string { return types.ExprString(call.Fun) }

func typeName(t types.Type) string {
	if t == nil {
		return "value of unknown type"
	}
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
