package migrate

import (
	"go/ast"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// A mover decides about each write of a program, and rewrites those that can be moved. It is for one goroutine.
type mover struct {
	fset    *token.FileSet
	program *flow.Program
	src     *sources
	tracker *object.Tracker
	edits   *edits
	apis    *apis
}

// A move is a write that is rewritten.
type move struct {
	write *write
	call  string     // the new call, but for the name of the package of patchers
	gone  []ast.Expr // what the old call needed and the new one does not
	api   *api
	kind  string
}

// decide returns how a write is moved, or why it is left.
func (m *mover) decide(w *write) (*move, *reason) {
	if w.finding.Allowed != "" {
		return nil, because(w.Node, "nothing", "a directive allows it: %s", w.finding.Allowed)
	}
	kind := w.static()
	if kind == nil && (isUpdate(w) || isMergePatch(w)) {
		return nil, because(w.Node, hintWrap, "the type of the object is an interface or a type parameter, so its kind is not known here")
	}
	for _, s := range shapes {
		if !s.fits(w) {
			continue
		}
		if w.Call == nil {
			return nil, whyNoShape(w)
		}
		if options := w.Options(); len(options) > 0 {
			return nil, because(options[0], hintOptions, "the write has options that Flush does not take")
		}
		gone, why := s.shown(m, w)
		if why != nil {
			return nil, why
		}
		if why := m.reverted(w); why != nil {
			return nil, why
		}
		a, why := m.apis.of(kind, w)
		if why != nil {
			return nil, why
		}
		c, why := m.clientOf(w)
		if why != nil {
			return nil, why
		}
		name := kind.Obj().Name()
		call := "." + name + "Kind.Flush(" + m.src.text(w.Args[0]) + ", " + c + ", " + m.src.text(w.Object()) + ")"
		return &move{write: w, call: call, gone: gone, api: a, kind: name}, nil
	}
	return nil, whyNoShape(w)
}
