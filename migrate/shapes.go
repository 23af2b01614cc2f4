package migrate

import (
	"go/ast"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// A shape is a way to write status that can be moved. The table is closed: what fits no shape is left.
type shape struct {
	fits func(*write) bool
	// shown returns nil if a Flush of the object writes what the call writes, and otherwise what could not be shown.
	shown func(*mover, *write) (gone []ast.Expr, why *reason)
}

// shapes are tried in this order.
var shapes = []shape{
	{isUpdate, (*mover).update},
	{isMergePatch, (*mover).mergePatch},
}

func isUpdate(w *write) bool { return w.Writer == kube.SubResource && w.Verb == kube.Update }

func isMergePatch(w *write) bool { return w.Writer == kube.SubResource && w.Verb == kube.Patch }

// form names how a write is made, moved or not.
func (m *mover) form(w *write) string {
	name := m.verbForm(w)
	if w.Fn.Lit != nil {
		name += " in a closure"
	}
	return name
}

func (m *mover) verbForm(w *write) string {
	switch {
	case w.Writer == kube.ClientsetStatus, w.Writer == kube.ClientsetVerb:
		return "clientset"
	case w.Writer == kube.RawREST:
		return "raw request"
	case w.Writer == kube.CreateOrPatch:
		return "CreateOrPatch"
	case w.Call == nil:
		return "method value"
	case isUpdate(w):
		return "update"
	case !isMergePatch(w):
		return strings.ToLower(string(w.Verb))
	}
	for _, v := range flow.Trace(w.Patch(), &flow.Frame{Fn: w.Fn}, nil) {
		if v.Frame != nil && v.Frame.Fn.Outermost() != w.Fn.Outermost() {
			return "patch made elsewhere"
		}
	}
	if obj := w.Object(); obj != nil {
		if _, copies := originOf(w.Fn, obj); len(copies) > 0 {
			return "patch of a copy"
		}
	}
	return "patch"
}

// whyNoShape says why a write fits no shape.
func whyNoShape(w *write) *reason {
	switch {
	case w.Call == nil:
		return because(w.Node, hintWrap, "the method is handed on as a value")
	case w.Writer == kube.ClientsetStatus, w.Writer == kube.ClientsetVerb:
		return because(w.Node, "use a client.Client in this controller", "it is written by a clientset, which has no StatusClient and no Wrap")
	case w.Writer == kube.RawREST:
		return because(w.Node, "use a client.Client in this controller", "it is a raw REST request")
	case w.Writer == kube.CreateOrPatch:
		return because(w.Node, "write the status after CreateOrPatch, with Flush", "CreateOrPatch writes the object and its status in one call")
	case w.Verb == kube.Apply:
		return because(w.Node, hintWrap, "it is a server-side apply")
	}
	return because(w.Node, hintWrap, "it is neither an Update nor a Patch of the status")
}

// update: the server compares the object's resourceVersion, as Flush does.
func (m *mover) update(w *write) ([]ast.Expr, *reason) {
	switch f := w.finding; f.Class {
	case class.BlindUpdate:
		if !m.madeForTests(f) {
			return nil, because(w.Node, hintRead, "%s", f.Reason)
		}
	case class.Transplant:
		return nil, because(w.Node, "decide again on the fresh object", "%s", f.Reason)
	case class.StaleRetry:
		return nil, because(w.Node, hintReread, "%s", f.Reason)
	}
	return nil, nil
}

// mergePatch: the base is the state that the object was read in.
func (m *mover) mergePatch(w *write) ([]ast.Expr, *reason) {
	switch f := w.finding; f.Class {
	case class.Transplant:
		return nil, because(w.Node, "decide again on the fresh object", "%s", f.Reason)
	case class.AliasedBase:
		return nil, because(w.Node, "capture the base before the edit, or flush the object", "%s", f.Reason)
	case class.StaleRetry:
		return nil, because(w.Node, hintReread, "%s", f.Reason)
	case class.BlindApply:
		return nil, because(w.Node, hintWrap, "it is a server-side apply")
	}
	patch := w.Patch()
	found := false
	for _, v := range flow.Trace(patch, &flow.Frame{Fn: w.Fn}, nil) {
		if v.Kind == flow.Zero || isNil(v.Expr) {
			continue
		}
		found = true
		if why := m.patchValue(w, v); why != nil {
			return nil, why
		}
	}
	if !found {
		return nil, because(patch, hintEarly, "where the patch comes from cannot be seen")
	}
	if why := m.outdated(w); why != nil {
		return nil, why
	}
	return []ast.Expr{patch}, nil
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}
