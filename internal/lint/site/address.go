package site

import (
	"go/ast"
	"go/constant"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

func namesStatusIn(slice ast.Expr, in *flow.Func) (status bool, other string) {
	for _, v := range flow.Trace(slice, &flow.Frame{Fn: in}, nil) {
		lit, ok := v.Expr.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, e := range lit.Elts {
			if name, known := Constant(e, v.Frame.Fn); known && name == "status" {
				return true, ""
			}
		}
	}
	return false, "unknown"
}

// Addressed says which subresource a writer writes: the expression that gives the writer is traced to its source.
func Addressed(writer ast.Expr, in *flow.Func) (status bool, other string) {
	if writer == nil {
		return true, ""
	}
	values := flow.Trace(writer, &flow.Frame{Fn: in}, givesWriter)
	if len(values) == 0 {
		return true, ""
	}
	for _, v := range values {
		call, ok := v.Expr.(*ast.CallExpr)
		if !ok {
			status = true
			continue
		}
		isStatus, named := kube.ReturnsWriter(v.Frame.Fn.Pkg.Callee(call))
		if !named || isStatus {
			status = true
			continue
		}
		name, known := Constant(call.Args[0], v.Frame.Fn)
		if !known || name == "status" {
			status = true
		} else {
			other = name
		}
	}
	if status {
		return true, ""
	}
	return false, other
}

func givesWriter(e ast.Expr, fr *flow.Frame) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	status, named := kube.ReturnsWriter(fr.Fn.Pkg.Callee(call))
	return status || named
}

// Constant is the one string that e can be; known is false if there is no such, or more than one.
func Constant(e ast.Expr, in *flow.Func) (s string, known bool) {
	if tv, ok := in.Pkg.Info.Types[e]; ok && tv.Value != nil && tv.Value.Kind() == constant.String {
		return constant.StringVal(tv.Value), true
	}
	values := flow.Trace(e, &flow.Frame{Fn: in}, nil)
	for i, v := range values {
		if v.Kind != flow.Expression || v.Expr == nil {
			return "", false
		}
		tv, ok := v.Frame.Fn.Pkg.Info.Types[v.Expr]
		if !ok || tv.Value == nil || tv.Value.Kind() != constant.String {
			return "", false
		}
		c := constant.StringVal(tv.Value)
		if i > 0 && c != s {
			return "", false
		}
		s = c
	}
	return s, len(values) > 0
}
