package migrate

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/fix"
)

// patchValue checks one patch that can reach a write: a diff against a base that has the status of the object as it was read.
func (m *mover) patchValue(w *write, v flow.Value) *reason {
	call, ok := v.Expr.(*ast.CallExpr)
	if v.Kind != flow.Expression || !ok {
		return because(orNode(v.Expr, w.Patch()), hintEarly, "the patch is not made by client.MergeFrom in sight")
	}
	pkg := v.Frame.Fn.Pkg
	fn := pkg.Callee(call)
	if merge, _ := kube.MergeFrom(fn); !merge || fn.Name() == "StrategicMergeFrom" || len(call.Args) == 0 {
		if kube.IsRawPatch(fn) {
			return because(call, hintWrap, "the patch is written by hand, and not a diff")
		}
		return because(call, hintEarly, "the patch is not made by client.MergeFrom")
	}
	for _, option := range call.Args[1:] {
		if !kube.IsLockOption(pkg.TypeOf(option)) {
			return because(option, hintOptions, "the patch has an option that is not the optimistic lock")
		}
	}
	return m.base(w, call.Args[0], call, v.Frame)
}

func orNode(e ast.Expr, otherwise ast.Expr) ast.Expr {
	if e != nil {
		return e
	}
	return otherwise
}

// base checks the base of a diff: the same object, with the status that it was read with.
func (m *mover) base(w *write, base ast.Expr, merge *ast.CallExpr, fr *flow.Frame) *reason {
	values := flow.Trace(base, fr, func(e ast.Expr, at *flow.Frame) bool { _, ok := copied(at.Fn.Pkg, e); return ok })
	whole := false
	for _, v := range values {
		if v.Kind == flow.Zero || isNil(v.Expr) {
			continue
		}
		if v.Expr == nil {
			whole = true
			continue
		}
		of, ok := copied(v.Frame.Fn.Pkg, v.Expr)
		if !ok {
			whole = true
			continue
		}
		if why := m.sameObject(w, of, v.Expr, v.Frame); why != nil {
			return why
		}
	}
	if !whole && len(values) > 0 {
		return nil
	}
	// The base is the object that was read, and the written one is a copy of it.
	if _, copies := originOf(w.Fn, w.Object()); len(copies) == 0 && m.handedCopy(w) == nil {
		return because(base, hintEarly, "the base is not a copy of the object that is written")
	}
	return m.sameObject(w, base, merge, fr)
}

// sameObject: the captured object is the one that is written, or both are copies of one, and its status is untouched where the
// base and the written copy are taken.
func (m *mover) sameObject(w *write, captured ast.Expr, at ast.Expr, fr *flow.Frame) *reason {
	origin, _ := originOf(fr.Fn, captured)
	direct := place{fr.Fn, fr.Fn.Path(captured)}
	top, origin, ok := lowered(fr, origin)
	if !ok || origin.path == "" {
		return because(captured, hintEarly, "which object the base is a copy of cannot be followed")
	}
	written, copies := originOf(w.Fn, w.Object())
	names := []place{written, {w.Fn, w.Fn.Path(w.Object())}}
	same := false
	for _, name := range names {
		if up, ok := lifted(top, name); ok && up.path == origin.path {
			same = true
		}
	}
	if !same {
		return because(captured, hintEarly, "the base is a copy of another object than the one that is written")
	}
	u := &untouched{tracker: m.tracker, edits: m.edits, seen: map[visit]bool{}}
	if why := u.at(direct, at); why != nil {
		return why
	}
	for _, c := range copies {
		if why := u.at(c.of, c.node); why != nil {
			return why
		}
	}
	return nil
}

// handedCopy is the copy that a caller hands over as the written object.
func (m *mover) handedCopy(w *write) ast.Expr {
	for _, v := range flow.Trace(w.Object(), &flow.Frame{Fn: w.Fn}, func(e ast.Expr, at *flow.Frame) bool { _, ok := copied(at.Fn.Pkg, e); return ok }) {
		if v.Expr == nil {
			continue
		}
		if _, ok := copied(v.Frame.Fn.Pkg, v.Expr); ok {
			return v.Expr
		}
	}
	return nil
}

// outdated: the object is written through another variable between its read and this blind write, so that its version is old.
// Without a lock the write landed all the same; with it, it would conflict every time.
func (m *mover) outdated(w *write) *reason {
	switch w.finding.Class {
	case class.BlindMerge, class.DeadRetry, class.StaleBase:
	default:
		return nil
	}
	if pos, why, found := fix.WrittenMeanwhile(m.tracker, w.finding, func(in *flow.Func, call *ast.CallExpr) bool { return m.settles(w, in, call) }); found {
		return &reason{text: "with a lock this write would conflict: " + why, pos: pos, hint: hintOutdated}
	}
	f := w.Fn
	path := f.Path(w.Object())
	origin, _ := originOf(f, w.Object())
	var found *reason
	f.WalkBack(f.At(w.Call), func(p flow.Point) bool {
		for _, ev := range m.tracker.Events(f, p.Node()) {
			if ev.Path == path {
				return false
			}
			if ev.Kind != object.Write || ev.Obj == nil || ev.In != f || found != nil {
				continue
			}
			if other, _ := originOf(ev.In, ev.Obj); other.path == origin.path && other.path != "" {
				found = because(ev.Call, hintOutdated, "with a lock this write would conflict: the object is written through another variable before")
			}
		}
		return found == nil
	})
	return found
}
