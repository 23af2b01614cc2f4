package migrate

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// values are the functions of a program that are used as values, so that a call of a function value can run them.
type values struct {
	all   []*flow.Func
	calls []*flow.Call // of function values
}

func newValues(prog *flow.Program) *values {
	v := &values{}
	for _, pkg := range prog.Packages {
		for _, f := range pkg.Funcs() {
			if f.Body() != nil && !f.Skipped() && (f.Lit != nil || f.UsedAsValue()) {
				v.all = append(v.all, f)
			}
			if f.Body() != nil && !f.Skipped() {
				f.EachCall(f.Node(), func(call *ast.CallExpr) { v.addCall(f, call) })
			}
		}
	}
	return v
}

func (v *values) addCall(f *flow.Func, call *ast.CallExpr) {
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && tv.IsValue() && f.Pkg.Callee(call) == nil {
		v.calls = append(v.calls, &flow.Call{Expr: call, In: f})
	}
}

// callsOf are the calls of function values that can run a function.
func (v *values) callsOf(f *flow.Func) []*flow.Call {
	sig := f.Signature()
	var out []*flow.Call
	for _, c := range v.calls {
		t := c.In.Pkg.TypeOf(c.Expr.Fun)
		if t == nil || sig == nil {
			continue
		}
		if of, ok := types.Unalias(t).Underlying().(*types.Signature); ok && sameText(sig.Params(), of.Params()) && sameText(sig.Results(), of.Results()) {
			out = append(out, c)
		}
	}
	return out
}

// ofType are those that a value of the type can hold.
func (v *values) ofType(t types.Type) []*flow.Func {
	want, ok := types.Unalias(t).Underlying().(*types.Signature)
	if !ok {
		return nil
	}
	var out []*flow.Func
	for _, f := range v.all {
		if sig := f.Signature(); sig != nil && sameText(sig.Params(), want.Params()) && sameText(sig.Results(), want.Results()) {
			out = append(out, f)
		}
	}
	return out
}

// sameText compares types by what they are called: those of packages that import each other are not the same objects.
func sameText(a, b *types.Tuple) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if types.TypeString(a.At(i).Type(), nil) != types.TypeString(b.At(i).Type(), nil) {
			return false
		}
	}
	return true
}
