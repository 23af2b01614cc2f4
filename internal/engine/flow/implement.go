package flow

import (
	"go/ast"
	"go/types"
)

// Callees are the declarations that a call can run: the one that it names, or, where it names a method of an interface
// that the program defines, those of the program's types that implement it. Code outside the program may implement it,
// too: what was not seen here can still happen.
func (pkg *Package) Callees(call *ast.CallExpr) []*Func {
	fn := pkg.Callee(call)
	if fn == nil {
		return nil
	}
	if f := pkg.prog.Decl(fn); f != nil && f.Body() != nil {
		return []*Func{f}
	}
	iface := pkg.calledInterface(call, fn)
	if iface == nil {
		return nil
	}
	return pkg.prog.implementations(iface, fn.Name())
}

// calledInterface is the interface through which a call goes; nil unless the program defines its method.
func (pkg *Package) calledInterface(call *ast.CallExpr, fn *types.Func) types.Type {
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) || fn.Pkg() == nil || !pkg.prog.holds[fn.Pkg().Path()] {
		return nil
	}
	// The value's own type says more than the interface that declares the method, which it may embed.
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if t := pkg.TypeOf(sel.X); t != nil && types.IsInterface(t) {
			return types.Unalias(t)
		}
	}
	return recv.Type()
}

type implemented struct {
	iface  types.Type
	method string
}

// implementations are the methods of that name of the program's types that implement an interface.
func (p *Program) implementations(iface types.Type, method string) []*Func {
	key := implemented{iface, method}
	if found, ok := p.implements[key]; ok {
		return found
	}
	var found []*Func
	seen := map[*Func]bool{}
	it, _ := iface.Underlying().(*types.Interface)
	for _, t := range p.concreteTypes() {
		if it == nil || !types.Implements(t, it) {
			continue
		}
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
		if obj == nil {
			obj, _, _ = types.LookupFieldOrMethod(t, true, methodPkg(it, method), method)
		}
		fn, _ := obj.(*types.Func)
		if f := p.Decl(fn); f != nil && f.Body() != nil && !seen[f] {
			seen[f] = true
			found = append(found, f)
		}
	}
	p.implements[key] = found
	return found
}

// methodPkg is the package of an interface's method, without which an unexported one is not found.
func methodPkg(it *types.Interface, name string) *types.Package {
	for i := range it.NumMethods() {
		if m := it.Method(i); m.Name() == name {
			return m.Pkg()
		}
	}
	return nil
}

// concreteTypes are pointers to the program's named types, without those that are skipped: mocks would be
// implementations, too.
func (p *Program) concreteTypes() []types.Type {
	if p.concrete != nil {
		return p.concrete
	}
	p.concrete = []types.Type{}
	for _, pkg := range p.Packages {
		scope := pkg.Types.Scope()
		for _, name := range scope.Names() {
			tn, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() || pkg.Skip[tn] {
				continue
			}
			n, ok := tn.Type().(*types.Named)
			if !ok || types.IsInterface(n) {
				continue
			}
			p.concrete = append(p.concrete, types.NewPointer(instance(n)))
		}
	}
	return p.concrete
}

// instance is a generic type as its own methods see it.
func instance(n *types.Named) types.Type {
	if n.TypeParams().Len() == 0 || n.NumMethods() == 0 {
		return n
	}
	t := n.Method(0).Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t
}

// callersThrough are the calls of interface methods that can run f.
func (p *Program) callersThrough(f *Func) []*Call {
	var calls []*Call
	for _, c := range p.abstract[f.Obj.Name()] {
		fn := c.In.Pkg.Callee(c.Expr)
		for _, impl := range p.implementations(c.In.Pkg.calledInterface(c.Expr, fn), fn.Name()) {
			if impl == f {
				calls = append(calls, c)
				break
			}
		}
	}
	return calls
}
