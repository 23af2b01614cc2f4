package flow

import (
	"go/ast"
	"go/types"
)

// Name is the function's name in messages.
func (f *Func) Name() string {
	if o := f.Outermost(); f.Decl != nil || o.Decl != nil && f == o {
		return o.Decl.Name.Name
	}
	return "a function literal"
}

// FuncValues are the functions that a function value can be. all is false if it can be others, too: one that a caller
// out of sight hands over, that other code keeps, or that comes out of a call.
func (f *Func) FuncValues(e ast.Expr) (fns []*Func, all bool) {
	all = true
	for _, v := range Trace(e, &Frame{Fn: f}, nil) {
		found, known := v.funcs()
		fns = append(fns, found...)
		all = all && known && v.Frame.CalledInSight()
	}
	return fns, all
}

func (v Value) funcs() ([]*Func, bool) {
	if v.Kind == Zero {
		return nil, true
	}
	if v.Expr == nil || v.Frame == nil {
		return nil, false
	}
	pkg := v.Frame.Fn.Pkg
	switch x := ast.Unparen(v.Expr).(type) {
	case *ast.FuncLit:
		if lit := pkg.FuncAt(x); lit != nil {
			return []*Func{lit}, true
		}
	case *ast.Ident, *ast.SelectorExpr:
		if v.Kind != Expression {
			return nil, false
		}
		if _, null := pkg.Info.Uses[identOf(x)].(*types.Nil); null {
			return nil, true
		}
		if d := pkg.prog.Decl(pkg.FuncOf(v.Expr)); d != nil && d.Body() != nil {
			return []*Func{d}, true
		}
	case *ast.CompositeLit:
		if v.Kind == Element {
			return elementFuncs(x, v.Frame)
		}
	}
	if v.Kind == Element {
		return heldElements(v)
	}
	return nil, false
}

func identOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// heldElements are the functions in a list or a map that a variable holds, where it is given only literals.
func heldElements(v Value) ([]*Func, bool) {
	e := ast.Unparen(v.Expr)
	if x, ok := e.(*ast.IndexExpr); ok {
		e = x.X
	}
	if e == v.Expr && v.Frame.Fn.Pkg.Var(e) == nil {
		return nil, false
	}
	var fns []*Func
	all := true
	for _, c := range Trace(e, v.Frame, nil) {
		lit, ok := c.Expr.(*ast.CompositeLit)
		if !ok || c.Kind != Expression || !c.Frame.CalledInSight() || changedLater(c.Frame.Fn, e) {
			all = false
			continue
		}
		found, known := elementFuncs(lit, c.Frame)
		fns, all = append(fns, found...), all && known
	}
	return fns, all
}

// changedLater: an element of what e holds is assigned somewhere.
func changedLater(f *Func, e ast.Expr) bool {
	path, changed := f.Path(e), false
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && f.Path(x.X) == path {
					changed = true
				}
			}
		}
		return !changed
	})
	return changed || path == ""
}

func elementFuncs(lit *ast.CompositeLit, fr *Frame) (fns []*Func, all bool) {
	all = true
	for _, el := range lit.Elts {
		if kv, ok := el.(*ast.KeyValueExpr); ok {
			el = kv.Value
		}
		for _, v := range Trace(el, fr, nil) {
			found, known := v.funcs()
			fns, all = append(fns, found...), all && known
		}
	}
	return fns, all
}

// CalledInSight reports whether, where a trace left functions upwards to their callers, all their callers are in sight.
func (fr *Frame) CalledInSight() bool {
	for p := fr; p != nil && p.Below != nil; p = p.Below {
		if _, call := p.Site.(*ast.CallExpr); !call {
			continue
		}
		below := p.Below.Fn
		if below.Obj != nil && (below.Obj.Exported() || below.UsedAsValue()) {
			return false
		}
	}
	return true
}
