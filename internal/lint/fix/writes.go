package fix

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/errflow"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// writes finds what can write one subject. seen are the functions that were looked into: recursion adds nothing.
type writes struct {
	safety *safety
	sub    subject
	rel    related
	seen   map[visit]bool
}

// visit is a function with the parameters through which it got the subject.
type visit struct {
	fn        *flow.Func
	concerned string
}

// into is the question as it stands in a function that a call can run; nil where it was asked there before.
func (w *writes) into(f *flow.Func, call *ast.CallExpr, d *flow.Func) *writes {
	inner := *w
	if d.Outermost() != f.Outermost() {
		inner.rel = w.rel.concern(f, call, d)
		inner.sub.others = w.sub.othersIn(f, call, d)
		inner.sub.path = w.sub.nameIn(f, call, d)
	}
	at := visit{d, inner.sub.others + " " + inner.rel.key()}
	if w.seen[at] {
		return nil
	}
	w.seen[at] = true
	return &inner
}

func (s *safety) writes(sub subject, f *flow.Func) *writes {
	return &writes{safety: s, sub: sub, rel: sub.relatedIn(f), seen: map[visit]bool{}}
}

// at is what can write the subject in a node of f's graph. Deferred calls run after the node, and goroutines were
// looked at for the whole function.
func (w *writes) at(f *flow.Func, n ast.Node) *doubt {
	for _, ev := range w.safety.tracker.Events(f, n) {
		if ev.Kind == object.Write && w.event(f, ev) {
			return doubtAt(ev.Call, types.ExprString(ev.Call.Fun)+" can write the object after it was read")
		}
	}
	var found *doubt
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.FuncLit:
			lit := f.Pkg.FuncAt(c)
			return ast.Node(c) == n || lit != nil && lit.RunsInPlace() // the others run where they are called
		case *ast.CallExpr:
			if found == nil {
				found = w.call(f, c)
			}
		}
		return found == nil
	})
	return found
}

// event: a write of the subject, or of something that can be the same object on the server. A write of the object itself
// that decodes the response into it leaves it fresh.
func (w *writes) event(f *flow.Func, ev object.Event) bool {
	if w.safety.definite && (ev.Path == w.sub.path && ev.Path != "" || ev.Obj == nil || ev.In == f && !isItsOwn(f, ev.Obj) || ev.In != f && ev.Call == ev.At || w.safety.settles(ev.In, ev.Call)) {
		return false // the object's own variable, into which the response is decoded, or what may be it
	}
	if w.sub.other(ev.Path) || inPlace(f, ev, w.sub.path) {
		return false
	}
	return flow.Within(ev.Path, w.sub.path) || ev.Obj == nil || w.sub.sameKind(ev.In.Pkg.TypeOf(ev.Obj))
}

// after is what can write the subject once the literal was made: on the way to the function's end, or deferred.
func (w *writes) after(outer *flow.Func, lit *ast.FuncLit) *doubt {
	var found *doubt
	outer.Walk(outer.At(lit), func(p flow.Point) bool {
		if found == nil {
			found = w.at(outer, p.Node())
		}
		if d, ok := p.Node().(*ast.DeferStmt); ok && found == nil {
			found = w.anywhere(outer, d.Call)
		}
		return found == nil
	})
	return found
}

// meanwhile is a goroutine of the declaration that can write the subject: it runs at any time, even if it was started
// before the read. So does a function that is handed to code which may keep it.
func (w *writes) meanwhile(f *flow.Func, site ast.Node) *doubt {
	var found *doubt
	outer := f.Outermost()
	ast.Inspect(outer.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if found == nil && !within(n, site) {
				found = w.anywhere(outer, n.Call)
			}
			return false
		case *ast.FuncLit:
			if lit := outer.Pkg.FuncAt(n); found == nil && lit != nil && !within(n, site) && keptByCallee(lit) {
				found = w.anywhere(outer, n.Body)
			}
		}
		return found == nil
	})
	return found
}

// anywhere is what can write the subject in a node, literals and goroutines included.
func (w *writes) anywhere(f *flow.Func, n ast.Node) *doubt {
	var found *doubt
	ast.Inspect(n, func(c ast.Node) bool {
		if call, ok := c.(*ast.CallExpr); ok && found == nil {
			in := f.Enclosing(call)
			if found = w.direct(in, call); found == nil {
				found = w.call(in, call)
			}
		}
		return found == nil
	})
	return found
}

func within(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// keptByCallee: a literal is handed to code that is not in sight and may run it later, in a goroutine of its own.
func keptByCallee(lit *flow.Func) bool {
	call, ok := lit.Parent(lit.Lit).(*ast.CallExpr)
	if !ok || ast.Unparen(call.Fun) == ast.Expr(lit.Lit) {
		return false
	}
	fn := lit.Pkg.Callee(call)
	if fn == nil || len(lit.Pkg.Callees(call)) > 0 {
		return false
	}
	return !kube.IsRepeater(fn) && kube.PkgPath(fn) != kube.ControllerutilPath && !runsAtOnce(fn)
}

// runsAtOnce: functions of the standard library that run what they get before they return.
func runsAtOnce(fn *types.Func) bool {
	switch kube.PkgPath(fn) {
	case "sort", "slices", "maps", "strings", "bytes", "path/filepath", "io/fs":
		return true
	case "sync":
		return fn.Name() == "Do" || fn.Name() == "Range"
	}
	return false
}

// direct is a client's write of something that can be the subject, which the call itself does.
func (w *writes) direct(f *flow.Func, call *ast.CallExpr) *doubt {
	writer, verb := kube.Kind(f.Pkg.Callee(call))
	switch {
	case writer == kube.NoWriter || verb == kube.Create:
		return nil
	case writer == kube.Generated:
		if w.sub.sameKind(kube.PatchedKind(f.Pkg.Callee(call).Signature().Recv().Type())) {
			return doubtAt(call, callText(call)+" writes the object through a patcher")
		}
		return nil
	case len(call.Args) < 2:
		if w.safety.definite {
			return nil
		}
		return doubtAt(call, callText(call)+" writes an object that could be this one")
	}
	obj := call.Args[1]
	if writer == kube.CreateOrPatch && len(call.Args) > 2 {
		obj = call.Args[2]
	}
	if w.sub.other(f.Path(obj)) || !w.sub.sameKind(f.Pkg.TypeOf(obj)) || w.safety.definite && w.sub.path != "" && f.Path(obj) == w.sub.path {
		return nil
	}
	if w.safety.definite && (!isItsOwn(f, obj) || w.safety.settles(f, call)) {
		return nil
	}
	return doubtAt(call, callText(call)+" can write the object: it writes the same kind, or a type that can stand for any kind")
}

// call is what a call does to the subject beside the client's own writes, which are events.
func (w *writes) call(f *flow.Func, call *ast.CallExpr) *doubt {
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return nil
	}
	fn := f.Pkg.Callee(call)
	if fn == nil {
		return w.value(f, call)
	}
	if kube.IsDelete(fn) {
		return w.deleted(f, call)
	}
	if kube.IsRESTDo(fn) && !getsOnly(f, call) {
		return doubtAt(call, callText(call)+" sends a raw request, which can write the object")
	}
	if harmless(fn) {
		return nil
	}
	decls := f.Pkg.Callees(call)
	for _, d := range decls {
		if found := w.body(f, call, d); found != nil {
			return found
		}
	}
	if len(decls) > 0 || w.safety.definite || !w.unseen(f, call, fn) {
		return nil
	}
	return doubtAt(call, callText(call)+" can write the object, and its code cannot be seen")
}

// getsOnly: the chain of a raw request begins with Get.
func getsOnly(f *flow.Func, do *ast.CallExpr) bool {
	found := false
	ast.Inspect(do.Fun, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fn := f.Pkg.Callee(call)
			found = found || fn != nil && fn.Name() == "Get"
		}
		return !found
	})
	return found
}

// deleted: a deletion changes an object that has finalizers.
func (w *writes) deleted(f *flow.Func, call *ast.CallExpr) *doubt {
	if len(call.Args) < 2 || w.sub.other(f.Path(call.Args[1])) || !w.sub.sameKind(f.Pkg.TypeOf(call.Args[1])) {
		return nil
	}
	return doubtAt(call, callText(call)+" can delete the object, and what has finalizers is changed by that")
}

// body is what a function in sight does.
func (w *writes) body(f *flow.Func, call *ast.CallExpr, d *flow.Func) *doubt {
	inner := w.into(f, call, d)
	if inner == nil {
		return nil
	}
	return inner.anywhere(d, d.Body())
}

// value is a call of a function value: of the functions that it can be, or of anything.
func (w *writes) value(f *flow.Func, call *ast.CallExpr) *doubt {
	if _, lit := ast.Unparen(call.Fun).(*ast.FuncLit); lit {
		return nil // its body is part of the node
	}
	fns, all := f.FuncValues(call.Fun)
	for _, d := range fns {
		if found := w.body(f, call, d); found != nil {
			return found
		}
	}
	if all || w.safety.definite || sendsNothing(f.Pkg.TypeOf(call.Fun)) || wellKnown(f, call) {
		return nil
	}
	return doubtAt(call, callText(call)+" is a function value that cannot be followed, and can write the object")
}

// wellKnown: a function of controller-runtime that its root package keeps in a variable.
func wellKnown(f *flow.Func, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := f.Pkg.Info.Uses[sel.Sel].(*types.Var)
	return ok && !v.IsField() && (kube.PkgPath(v) == "sigs.k8s.io/controller-runtime" || kube.IsStandard(v))
}

// sendsNothing: a function value that gets neither a context nor a client and cannot fail only edits or looks; but one
// without parameters and results does what it captured.
func sendsNothing(t types.Type) bool {
	if kube.IsNamed(t, "context", "CancelFunc") {
		return true
	}
	if t == nil {
		return false
	}
	sig, ok := t.Underlying().(*types.Signature)
	return ok && !couldWrite(sig) && sig.Params().Len()+sig.Results().Len() > 0
}

// harmless: the client's own reads, its writes, which are events, and calls that only look.
func harmless(fn *types.Func) bool {
	if into, returns := kube.IsGet(fn); into || returns || kube.IsList(fn) || kube.IsCopy(fn) {
		return true
	}
	path := kube.PkgPath(fn)
	if errflow.IsLogPackage(path, fn.Name()) || path == kube.ErrorsPath || path == kube.ControllerutilPath || kube.IsStandard(fn) {
		return true
	}
	w, _ := kube.Kind(fn)
	return w != kube.NoWriter
}

// unseen: a function without a body in sight gets the subject together with a client, or a client for code that knows
// the kind.
func (w *writes) unseen(f *flow.Func, call *ast.CallExpr, fn *types.Func) bool {
	concerned := w.rel.anyOf(f, call.Args)
	client := false
	for _, a := range call.Args {
		client = client || kube.HoldsClient(f.Pkg.TypeOf(a))
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if ok && fn.Signature().Recv() != nil {
		t := f.Pkg.TypeOf(sel.X)
		concerned = concerned || w.rel.mentions(f, sel.X)
		client = client || kube.HoldsClient(t)
		if concerned && t != nil && types.IsInterface(t) && !kube.IsObject(t) && couldWrite(fn.Signature()) {
			return true
		}
	}
	return client && (concerned || w.sub.knownTo(fn))
}

// knownTo reports whether the package of a function can name the subject's type.
func (sub subject) knownTo(fn *types.Func) bool {
	n := kube.Named(sub.kind)
	if n == nil || n.Obj().Pkg() == nil || fn.Pkg() == nil {
		return true
	}
	home := n.Obj().Pkg().Path()
	if fn.Pkg().Path() == home {
		return true
	}
	for _, imp := range fn.Pkg().Imports() {
		if imp.Path() == home {
			return true
		}
	}
	return false
}

// couldWrite: what sends a request takes a context or a client, or can fail.
func couldWrite(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if kube.IsContext(v.Type()) || kube.HoldsClient(v.Type()) {
			return true
		}
	}
	for v := range sig.Results().Variables() {
		if kube.IsError(v.Type()) {
			return true
		}
	}
	return false
}
