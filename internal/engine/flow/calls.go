package flow

import (
	"go/ast"
	"go/types"
	"maps"

	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// Calls says which calls of functions count. The zero value counts every call in the program.
type Calls struct{ only map[*Func]*Call }

// Only returns the calls with one call of f in place of all others of f.
func (c Calls) Only(f *Func, call *Call) Calls {
	only := maps.Clone(c.only)
	if only == nil {
		only = map[*Func]*Call{}
	}
	only[f] = call
	return Calls{only}
}

// Of are the calls of a function that count.
func (c Calls) Of(f *Func) []*Call {
	if only := c.only[f]; only != nil {
		return []*Call{only}
	}
	return f.CallsSeen()
}

// CallsSeen are the calls of a declared function, or of a literal that is called by the variable that holds it.
func (f *Func) CallsSeen() []*Call {
	if f.Obj != nil {
		return f.Pkg.prog.Callers(f)
	}
	return f.litCalls()
}

// litCalls are the calls of a literal: in place, or through the one variable that it is assigned to.
func (f *Func) litCalls() []*Call {
	if f.Lit == nil || f.Outer == nil {
		return nil
	}
	if call, ok := f.Parent(f.Lit).(*ast.CallExpr); ok {
		if ast.Unparen(call.Fun) == ast.Expr(f.Lit) {
			return []*Call{{Expr: call, In: f.Outer}}
		}
		return f.Pkg.handedTo(call, f.Lit, 0)
	}
	v := f.HeldBy()
	if v == nil {
		return nil
	}
	return f.callsOf(v, 0)
}

// handedTo are the calls of a function value by the functions that a call hands it to.
func (pkg *Package) handedTo(call *ast.CallExpr, value ast.Expr, depth int) []*Call {
	if depth > limits.HandedOn {
		return nil
	}
	var calls []*Call
	for _, callee := range pkg.Callees(call) {
		for i := range callee.Signature().Params().Len() {
			if v := callee.Param(i); v != nil && callee.Argument(i, call) == value {
				calls = append(calls, callee.callsOf(v, depth+1)...)
			}
		}
	}
	return calls
}

// callsOf are the calls of the function that a variable of f's declaration holds.
func (f *Func) callsOf(v *types.Var, depth int) []*Call {
	var calls []*Call
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f.Pkg.Var(c.Fun) == v {
			calls = append(calls, &Call{Expr: c, In: f.Enclosing(c)})
			return true
		}
		for _, a := range c.Args {
			if f.Pkg.Var(a) == v {
				calls = append(calls, f.Pkg.handedTo(c, a, depth)...)
			}
		}
		return true
	})
	return calls
}

// Enclosing is the function or literal of f's declaration that a node stands in.
func (f *Func) Enclosing(n ast.Node) *Func {
	for p := f.Parent(n); p != nil; p = f.Parent(p) {
		if g := f.Pkg.byNode[p]; g != nil {
			return g
		}
	}
	return f.Outermost()
}

// HeldBy is the local variable that a literal is assigned to; nil if it goes elsewhere.
func (f *Func) HeldBy() *types.Var {
	if f.Lit == nil {
		return nil
	}
	switch p := f.Parent(f.Lit).(type) {
	case *ast.AssignStmt:
		for i, rhs := range p.Rhs {
			if ast.Unparen(rhs) == ast.Expr(f.Lit) && i < len(p.Lhs) {
				return f.Pkg.Var(p.Lhs[i])
			}
		}
	case *ast.ValueSpec:
		for i, rhs := range p.Values {
			if ast.Unparen(rhs) == ast.Expr(f.Lit) && i < len(p.Names) {
				v, _ := f.Pkg.Info.Defs[p.Names[i]].(*types.Var)
				return v
			}
		}
	}
	return nil
}

// CalledAt are the calls of the local variable that holds a literal, if the function around it does nothing else with the
// variable: neither defers it, nor hands it on, nor calls it from another literal.
func (f *Func) CalledAt() []*ast.CallExpr {
	v := f.HeldBy()
	if v == nil || f.Outer == nil || len(f.Outermost().AllDefs(v)) != 1 {
		return nil
	}
	var calls []*ast.CallExpr
	only := true
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || f.Pkg.Info.Uses[id] != v {
			return only
		}
		call, isCall := f.Parent(id).(*ast.CallExpr)
		if !isCall || call.Fun != ast.Expr(id) || f.Enclosing(call) != f.Outer {
			only = false
			return false
		}
		switch f.Parent(call).(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			only = false
		}
		calls = append(calls, call)
		return only
	})
	if !only {
		return nil
	}
	return calls
}

// EachCall visits the calls inside a node, without those inside literals.
func (f *Func) EachCall(node ast.Node, visit func(*ast.CallExpr)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == node
		case *ast.CallExpr:
			visit(n)
		}
		return true
	})
}

// ParamIndex is the place of v among the parameters; -1 is the receiver.
func (f *Func) ParamIndex(v *types.Var) (int, bool) {
	if f.Decl != nil && f.Decl.Recv != nil {
		for _, field := range f.Decl.Recv.List {
			for _, name := range field.Names {
				if f.Pkg.Info.Defs[name] == v {
					return -1, true
				}
			}
		}
	}
	i := 0
	for _, field := range f.Type().Params.List {
		for _, name := range field.Names {
			if f.Pkg.Info.Defs[name] == v {
				return i, true
			}
			i++
		}
		if len(field.Names) == 0 {
			i++
		}
	}
	return 0, false
}

// Param is the i-th parameter's variable, -1 the receiver; nil if it has no name.
func (f *Func) Param(i int) *types.Var {
	sig := f.Signature()
	if sig == nil {
		return nil
	}
	if i < 0 {
		return sig.Recv()
	}
	if i >= sig.Params().Len() {
		return nil
	}
	return sig.Params().At(i)
}

// Argument is what a call of f hands over for its i-th parameter; nil if that cannot be told.
func (f *Func) Argument(i int, call *ast.CallExpr) ast.Expr {
	sig := f.Signature()
	if sig == nil {
		return nil
	}
	if i < 0 {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			return sel.X
		}
		return nil
	}
	args := call.Args
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && sig.Recv() != nil {
		if s := f.Pkg.Info.Selections[sel]; s != nil && s.Kind() == types.MethodExpr {
			args = args[min(1, len(args)):]
		}
	}
	if sig.Variadic() && i == sig.Params().Len()-1 && !call.Ellipsis.IsValid() {
		if len(args) == i+1 {
			return args[i]
		}
		return nil
	}
	if i < len(args) && (len(args) > 1 || sig.Params().Len() == 1) {
		return args[i]
	}
	return nil
}
