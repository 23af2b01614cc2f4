package fix

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// A helper is a function that one other function hands its object to, and that writes the object's status. It gets the
// patcher with the object.
type helper struct {
	fn    *flow.Func
	param *types.Var
	calls []*flow.Call
	sites []*class.Finding
}

// asHelper is the function of a place as a helper, and the place of the object that it is handed; nil where it has callers
// that cannot be seen, or that hand it more than one object.
func asHelper(p place, sites []*class.Finding) (*helper, place) {
	h := &helper{fn: p.fn, sites: sites, calls: p.fn.CallsSeen()}
	if p.fn.Decl == nil || p.fn.Obj == nil || p.fn.Obj.Exported() || p.fn.UsedAsValue() || p.fn.Signature().Variadic() {
		return nil, place{}
	}
	index := -1
	for i := range p.fn.Signature().Params().Len() {
		if v := p.fn.Param(i); v != nil && flow.VarPath(v) == p.path {
			h.param, index = v, i
		}
	}
	if h.param == nil || kube.Named(h.param.Type()) == nil || types.IsInterface(h.param.Type()) {
		return nil, place{}
	}
	var owner place
	for _, c := range h.calls {
		arg := p.fn.Argument(index, c.Expr)
		if arg == nil || c.In.Pkg != p.fn.Pkg || len(c.Expr.Args) == 0 || c.Expr.Ellipsis.IsValid() {
			return nil, place{}
		}
		at := place{c.In.Outermost(), c.In.Path(arg)}
		if at.path == "" || at.fn == p.fn || owner.fn != nil && at != owner {
			return nil, place{}
		}
		owner = at
	}
	if owner.fn == nil {
		return nil, place{}
	}
	return h, owner
}

// argument is what the calls hand over.
func (h *helper) argument() ast.Expr {
	i, _ := h.fn.ParamIndex(h.param)
	return h.fn.Argument(i, h.calls[0].Expr)
}

// handOn gives each helper the patcher, and rewrites its writes.
func (m *mover) handOn() bool {
	for _, h := range m.helpers {
		in := &mover{
			fn: h.fn, path: flow.VarPath(h.param), sites: h.sites, safety: m.safety, patchers: m.patchers, obj: h.param, kind: m.kind, child: m.child,
		}
		in.patcher = m.freshIn(h.fn, m.patcher, m.kind.Obj().Name()+"Patcher")
		if in.patcher == "" || !m.writesBy(h) || !in.uses() || !in.flushes() || !in.imports() {
			return false
		}
		at, index := h.room()
		in.replace(at, at, ", "+in.patcher+" *"+path.Base(m.child)+"."+m.kind.Obj().Name()+"StatusPatcher")
		m.out = append(m.out, in.out...)
		for _, c := range h.calls {
			end := c.Expr.Args[index].End()
			m.replace(end, end, ", "+m.patcher)
		}
	}
	return true
}

// room is where the patcher goes among the parameters, and behind which argument: behind the object, or at the end where other
// parameters share its type.
func (h *helper) room() (at token.Pos, argument int) {
	params := h.fn.Type().Params.List
	for _, field := range params {
		if last := field.Names[len(field.Names)-1]; h.fn.Pkg.Info.Defs[last] == types.Object(h.param) {
			i, _ := h.fn.ParamIndex(h.param)
			return field.End(), i
		}
	}
	return params[len(params)-1].End(), h.fn.Signature().Params().Len() - 1
}

// writesBy: the helper is a method beside the function that read, and writes through the same field.
func (m *mover) writesBy(h *helper) bool {
	mine, its := m.fn.Param(-1), h.fn.Param(-1)
	if mine == nil || its == nil || kube.Named(mine.Type()) != kube.Named(its.Type()) {
		return false
	}
	field, ok := strings.CutPrefix(m.client, mine.Name()+".")
	if !ok {
		return false
	}
	in := &mover{fn: h.fn, sites: h.sites}
	return in.sameClient(its.Name() + "." + field)
}

// all are the writes of the function and of its helpers.
func (m *mover) all() []*class.Finding {
	all := append([]*class.Finding(nil), m.sites...)
	for _, h := range m.helpers {
		all = append(all, h.sites...)
	}
	return all
}
