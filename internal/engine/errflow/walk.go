package errflow

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// walk goes every way through a function that control can take when the error of a write is a conflict.
type walk struct {
	fo      *Follower
	f       *flow.Func
	built   *built
	shape   *shape
	call    *ast.CallExpr       // the write, or the call that hands its error up
	site    ssa.CallInstruction // the same; nil in a function that gets the conflict
	error   fact                // of the write: a conflict, or zero to see what success does
	depth   int                 // of functions looked into
	entered map[string]bool
	over    bool // there are too many ways
	tested  token.Pos
	ends    func(ret *ssa.Return, s *state) // a way out with the error at hand
	lost    func(at token.Pos)              // a way on which nothing can take the error
	kept    func()                          // a way on which the error went where it cannot be followed, or a requeue was asked for
}

func (w *walk) enter(b, from *ssa.BasicBlock, s *state) {
	s = s.clone()
	w.phis(b, from, s)
	s.forget(w.shape, b)
	key := strconv.Itoa(b.Index) + ":" + s.key()
	if w.over || w.entered[key] {
		return
	}
	w.entered[key] = true
	w.over = len(w.entered) > limits.States
	w.run(b, 0, s)
}

// phis gives the phis of b what they have on the way from a block before it, all at once.
func (w *walk) phis(b, from *ssa.BasicBlock, s *state) {
	edge := 0
	for i, p := range b.Preds {
		if p == from {
			edge = i
		}
	}
	before := s.clone()
	for _, in := range b.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			return
		}
		s.redefine(phi)
		if v := phi.Edges[edge]; b.Dominates(from) {
			s.note(phi, before.of(v)) // the value is from the turn of the loop before, and is made of this phi, perhaps
		} else {
			s.mean(phi, before.root(v))
		}
	}
}

// run goes on from the i-th instruction of b.
func (w *walk) run(b *ssa.BasicBlock, i int, s *state) {
	for ; i < len(b.Instrs); i++ {
		switch in := b.Instrs[i].(type) {
		case ssa.CallInstruction:
			for _, next := range w.calls(in, s) {
				w.run(b, i+1, next)
			}
			return
		case *ssa.If:
			w.branch(b, in, s)
			return
		case *ssa.Jump:
			w.enter(b.Succs[0], b, s)
			return
		case *ssa.Return:
			if s.after {
				w.ends(in, s)
			}
			return
		case *ssa.Store:
			if !w.store(in, s) {
				w.keep(s)
				return
			}
		case *ssa.MapUpdate:
			if !w.put(in.Map, in.Value, s) {
				w.keep(s)
				return
			}
		case *ssa.Send:
			if s.of(in.X) == conflict || s.after && kube.IsGenericEvent(in.X.Type()) {
				w.keep(s)
				return
			}
		case ssa.Value:
			if !w.value(in, s) {
				return
			}
		}
	}
}

func (w *walk) keep(s *state) {
	if s.after {
		w.kept()
	}
}

func (w *walk) branch(b *ssa.BasicBlock, in *ssa.If, s *state) {
	cond := s.of(in.Cond)
	for i, f := range []fact{set, zero} {
		if cond != unknown && cond != f {
			continue
		}
		next := s.clone()
		if next.assume(in.Cond, f) {
			w.enter(b.Succs[i], b, next)
		}
	}
}

// value is an instruction that makes a value; false ends the way.
func (w *walk) value(v ssa.Value, s *state) bool {
	if _, phi := v.(*ssa.Phi); phi {
		return true
	}
	if x, ok := v.(*ssa.Extract); ok {
		if _, call := x.Tuple.(*ssa.Call); call {
			return true // noted with the call
		}
	}
	s.redefine(v)
	switch x := v.(type) {
	case *ssa.Alloc:
		s.cells[x] = content{value: ssa.NewConst(nil, x.Type().Underlying().(*types.Pointer).Elem())}
		return true
	case *ssa.UnOp:
		if x.Op == token.ARROW && s.after && isDone(x.X) {
			return false // the context has ended, and with it all work that could be queued
		}
		if x.Op == token.MUL && w.load(x, s) {
			return true
		}
		if _, global := x.X.(*ssa.Global); x.Op == token.MUL && !global {
			s.note(x, s.part(x.X))
			return true
		}
	}
	s.note(v, s.of(v))
	return true
}

// load gives a load of a variable its content, and reports whether it is one.
func (w *walk) load(x *ssa.UnOp, s *state) bool {
	switch x.X.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
	default:
		return false
	}
	c, known := s.cells[x.X]
	switch {
	case !known:
		s.cells[x.X] = content{value: x}
	case c.value != nil:
		s.mean(x, c.value)
	default:
		s.note(x, c.fact)
	}
	return true
}

// store is an assignment; false if the conflict goes where it cannot be followed, or if it asks for another attempt.
func (w *walk) store(in *ssa.Store, s *state) bool {
	f := s.of(in.Val)
	if w.asksRequeue(in, f) && s.after {
		return false
	}
	switch at := in.Addr.(type) {
	case *ssa.Alloc:
		s.cells[at] = content{value: s.root(in.Val)}
		return true
	case *ssa.FreeVar:
		if f == conflict {
			return false // a variable of the function around: it is looked at there
		}
		s.cells[at] = content{value: s.root(in.Val)}
		return true
	}
	if cell, ok := variable(in.Addr).(*ssa.Alloc); ok {
		w.fill(cell, in.Val, f, s)
		return true
	}
	return w.put(container(in.Addr), in.Val, s)
}

// fill is an assignment to a part of a variable.
func (w *walk) fill(cell *ssa.Alloc, val ssa.Value, f fact, s *state) {
	switch had := s.content(cell); {
	case f == conflict || had == conflict:
		s.cells[cell] = content{fact: conflict}
	case (kube.IsResult(cell.Type()) && f != zero) || isErrorType(val.Type()) && f == set || had == set:
		s.cells[cell] = content{fact: set} // a requeue is asked for, or one error of a list is not nil
	case f != zero:
		s.cells[cell] = content{}
	}
}

// put is an assignment to an element; false if the conflict goes where it cannot be followed.
func (w *walk) put(into, val ssa.Value, s *state) bool {
	if s.of(val) != conflict {
		return true
	}
	into = s.root(into)
	switch into.(type) {
	case *ssa.MakeSlice, *ssa.MakeMap, *ssa.Call, *ssa.Slice:
		s.note(into, conflict)
		return true
	}
	return false
}

// asksRequeue: the assignment gives a result of the function around, or one that somebody else made, a requeue.
func (w *walk) asksRequeue(in *ssa.Store, f fact) bool {
	if f == zero {
		return false
	}
	if fv, ok := in.Addr.(*ssa.FreeVar); ok {
		return kube.IsResult(in.Val.Type()) && w.named(fv) != nil
	}
	field, ok := in.Addr.(*ssa.FieldAddr)
	if !ok || !kube.IsResult(field.X.Type()) {
		return false
	}
	if _, local := variable(field).(*ssa.Alloc); local {
		return false // it is looked at where it is returned
	}
	name := field.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(field.Field).Name()
	return name == "Requeue" || name == "RequeueAfter"
}

// named is the named result, of a function around, that a literal has captured; nil if it is none.
func (w *walk) named(fv *ssa.FreeVar) *types.Var {
	for f := w.f.Outer; f != nil; f = f.Outer {
		sig := f.Signature()
		for i := 0; sig != nil && i < sig.Results().Len(); i++ {
			if r := sig.Results().At(i); r.Name() == fv.Name() && r.Pos() == fv.Pos() {
				return r
			}
		}
	}
	return nil
}

// isFalse: v is the constant false on this way.
func isFalse(v ssa.Value, s *state) bool {
	c, ok := s.root(v).(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool && !constant.BoolVal(c.Value)
}
