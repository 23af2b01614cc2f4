package errflow

import (
	"go/ast"
	"go/token"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"

	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// arrivals are the states in which control can reach a node: which errors are known not to be nil there, on each way
// from the function's entry.
func (w *walk) arrivals(site ast.Node) []*state {
	a := &arriver{w: w, site: site, seen: map[string]bool{}, found: map[string]*state{}}
	entry := w.f.Entry()
	if !entry.Valid() {
		return []*state{newState()}
	}
	a.block(entry.Next(), newState())
	if a.over || len(a.found) == 0 {
		s := newState()
		w.nonNilAround(site, s)
		return []*state{s}
	}
	var out []*state
	for _, s := range a.found {
		out = append(out, s)
	}
	return out
}

type arriver struct {
	w     *walk
	site  ast.Node
	seen  map[string]bool
	found map[string]*state
	over  bool
}

func (a *arriver) block(p flow.Point, s *state) {
	for ; p.InBlock() && !a.over; p = p.Next() {
		n := p.Node()
		if contains(n, a.site) {
			a.found[s.key()] = s
			return
		}
		if p.Branches() && p.LastInBlock() {
			a.branch(p, n.(ast.Expr), s)
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			a.w.learn(n, s, 0)
		case *ast.ReturnStmt:
			return
		}
	}
	for _, next := range p.Successors() {
		a.enter(next, s.clone())
	}
}

func (a *arriver) branch(p flow.Point, cond ast.Expr, s *state) {
	yes, no := a.w.truth(cond, s)
	next := p.Successors()
	if yes && len(next) > 0 {
		a.enter(next[0], a.w.knowing(s, cond, token.NEQ))
	}
	if no && len(next) > 1 {
		a.enter(next[1], a.w.knowing(s, cond, token.EQL))
	}
}

func (a *arriver) enter(p flow.Point, s *state) {
	key := p.BlockKey() + ":" + s.key()
	if a.seen[key] {
		return
	}
	a.seen[key] = true
	if len(a.seen) > limits.Arrivals {
		a.over = true
		return
	}
	a.block(p, s)
}

// learn notes which errors an assignment makes, or makes unknown.
func (w *walk) learn(n *ast.AssignStmt, s *state, depth int) {
	for i, lhs := range n.Lhs {
		v := w.f.Pkg.Var(lhs)
		if v == nil {
			continue
		}
		var rhs ast.Expr
		if len(n.Lhs) == len(n.Rhs) {
			rhs = n.Rhs[i]
		}
		known := rhs != nil && isErrorType(v.Type()) && w.neverNil(rhs, s, depth)
		delete(s.nonNil, v)
		if known {
			s.nonNil[v] = true
		}
	}
}
