package errflow

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// of is what is known about a value.
func (s *state) of(v ssa.Value) fact {
	v = s.root(v)
	if f, ok := s.fact[v]; ok {
		return f
	}
	switch x := v.(type) {
	case *ssa.Const:
		return constantFact(x)
	case *ssa.Alloc:
		if s.cells[x].fact == conflict {
			return conflict // it holds it somewhere inside
		}
		return set // an address
	case *ssa.MakeInterface:
		if s.of(x.X) == conflict {
			return conflict
		}
		return set // also around a nil pointer
	case *ssa.ChangeInterface:
		return s.of(x.X)
	case *ssa.ChangeType:
		return s.of(x.X)
	case *ssa.Slice:
		return s.of(x.X)
	case *ssa.Field:
		return onlyConflict(s.of(x.X))
	case *ssa.TypeAssert:
		return s.assertion(x, 0)
	case *ssa.Extract:
		if a, ok := x.Tuple.(*ssa.TypeAssert); ok {
			return s.assertion(a, x.Index)
		}
	case *ssa.UnOp:
		return s.unary(x)
	case *ssa.BinOp:
		return s.comparison(x)
	}
	return unknown
}

func onlyConflict(f fact) fact {
	if f == conflict {
		return conflict
	}
	return unknown
}

func not(f fact) fact {
	switch f {
	case set:
		return zero
	case zero:
		return set
	}
	return unknown
}

func truth(yes bool) fact {
	if yes {
		return set
	}
	return zero
}

func constantFact(c *ssa.Const) fact {
	if c.Value == nil {
		return zero
	}
	switch c.Value.Kind() {
	case constant.Bool:
		return truth(constant.BoolVal(c.Value))
	case constant.Int, constant.Float:
		return truth(constant.Sign(c.Value) != 0)
	case constant.String:
		return truth(constant.StringVal(c.Value) != "")
	}
	return unknown
}

// assertion is the i-th result of a type assertion. A conflict is an API status, and no other type of error.
func (s *state) assertion(a *ssa.TypeAssert, i int) fact {
	of := s.of(a.X)
	switch {
	case i == 0:
		return onlyConflict(of)
	case of == zero, of == conflict && !isAPIStatus(a.AssertedType):
		return zero
	}
	return unknown
}

func (s *state) unary(x *ssa.UnOp) fact {
	switch x.Op {
	case token.NOT:
		return not(s.of(x.X))
	case token.MUL:
		if g, ok := x.X.(*ssa.Global); ok && isErrorType(g.Type().Underlying().(*types.Pointer).Elem()) {
			return set // io.EOF and its like
		}
	}
	return unknown
}

// part is what is known about a field or an element that is loaded. It must not be asked for later, when what it was
// loaded from may have changed.
func (s *state) part(addr ssa.Value) fact {
	if base := variable(addr); base != nil {
		return onlyConflict(s.content(base))
	}
	return onlyConflict(s.of(container(addr)))
}

func (s *state) comparison(x *ssa.BinOp) fact {
	a, b := s.of(x.X), s.of(x.Y)
	if a == zero {
		a, b = b, a
	}
	equal := unknown
	switch {
	case b == zero && a != unknown:
		equal = truth(a == zero)
	case a == conflict && b == set, a == set && b == conflict:
		equal = zero // a conflict is none of the errors that are kept in variables
	}
	switch x.Op {
	case token.EQL:
		return equal
	case token.NEQ, token.GTR:
		return not(equal) // the operand of > is a length
	}
	return unknown
}

// assume takes over that v is set or zero, and what follows from it. It reports whether that can be, and with any work
// left: when the context ends, so does all that could be queued.
func (s *state) assume(v ssa.Value, f fact) bool {
	v = s.root(v)
	if s.of(v) == conflict {
		return f == set
	}
	s.note(v, f)
	switch x := v.(type) {
	case *ssa.UnOp:
		if x.Op == token.NOT {
			return s.assume(x.X, not(f))
		}
	case *ssa.ChangeInterface:
		return s.assume(x.X, f)
	case *ssa.BinOp:
		return s.assumeComparison(x, f)
	case *ssa.Call:
		if f == set && saysNotNil(calleeOf(x)) && len(x.Call.Args) > 0 {
			return s.assume(x.Call.Args[0], set)
		}
	}
	return true
}

func (s *state) assumeComparison(x *ssa.BinOp, f fact) bool {
	if x.Op == token.NEQ {
		f = not(f)
	} else if x.Op != token.EQL {
		return true
	}
	other, against := x.X, s.of(x.Y)
	if s.of(x.X) == zero {
		other, against = x.Y, zero
	}
	if f == set && cancels(x) {
		return !s.after
	}
	if against == zero {
		return s.assume(other, not(f))
	}
	return true
}

// cancels: a select takes the case of a context that ends.
func cancels(x *ssa.BinOp) bool {
	extract, ok := x.X.(*ssa.Extract)
	if !ok || extract.Index != 0 {
		return false
	}
	sel, ok := extract.Tuple.(*ssa.Select)
	c, isConst := x.Y.(*ssa.Const)
	return ok && isConst && int(c.Int64()) < len(sel.States) && isDone(sel.States[c.Int64()].Chan)
}

func isDone(ch ssa.Value) bool {
	call, ok := ch.(*ssa.Call)
	return ok && kube.IsFunc(calleeOf(call), "context", "Done")
}

// saysNotNil: a check that is true only for real errors, or a function that makes nil of some.
func saysNotNil(fn *types.Func) bool {
	return kube.IsConflictCheck(fn) || kube.IsOtherReasonCheck(fn) || kube.IsFunc(fn, "errors", "Is", "As") || ignores(fn)
}

// calleeOf is the function or method that a call names; nil for a function value.
func calleeOf(c ssa.CallInstruction) *types.Func {
	common := c.Common()
	if common.IsInvoke() {
		return common.Method
	}
	if fn := common.StaticCallee(); fn != nil {
		if fn.Origin() != nil {
			fn = fn.Origin()
		}
		obj, _ := fn.Object().(*types.Func)
		return obj
	}
	return nil
}

// variable is the variable of the function, or of the one around it, that an address leads into; nil if it leads elsewhere.
func variable(addr ssa.Value) ssa.Value {
	switch x := addr.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		return x
	case *ssa.FieldAddr:
		return variable(x.X)
	case *ssa.IndexAddr:
		return variable(x.X)
	}
	return nil
}

// container is the slice or map that an address leads into.
func container(addr ssa.Value) ssa.Value {
	switch x := addr.(type) {
	case *ssa.FieldAddr:
		return container(x.X)
	case *ssa.IndexAddr:
		return container(x.X)
	}
	return addr
}
