package errflow

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// swallows: a function of the program's own gets the conflict and returns nil for it: ignoreConflict(err).
func (w *walk) swallows(call *ast.CallExpr, carries func(ast.Expr) bool) bool {
	if w.probing || !returnsError(w.f.Pkg, call) {
		return false
	}
	for _, d := range w.f.Pkg.DeclsOf(call) {
		if d.Signature().Results().Len() != 1 {
			continue
		}
		for i := range d.Signature().Params().Len() {
			v, arg := d.Param(i), d.Argument(i, call)
			if arg != nil && v != nil && kube.IsError(v.Type()) && carries(arg) && w.fo.Swallowers.dropsParam(d, i) {
				return true
			}
		}
	}
	return false
}

// Swallowers remembers which functions return nil for a conflict that they get.
type Swallowers map[parameter]bool

type parameter struct {
	fn    *flow.Func
	index int
}

func (s Swallowers) dropsParam(d *flow.Func, i int) bool {
	at := parameter{d, i}
	if drops, known := s[at]; known || d.Graph() == nil {
		return drops
	}
	s[at] = false // while it is looked at
	inner := &walk{fo: &Follower{Queues: Queues{}, Swallowers: s}, f: d, site: nowhere(d), start: newState()}
	inner.start.tainted[d.Param(i)] = true
	inner.block(d.Entry().Next(), inner.start, map[string]bool{})
	s[at] = inner.out.Dropped && !inner.out.Returned
	return s[at]
}
