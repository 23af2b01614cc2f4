package flow

import (
	"go/ast"
	"go/types"
)

// A Frame is a function in the context in which a value was met.
type Frame struct {
	Fn    *Func
	Calls Calls // by which parameters are followed to arguments

	// Call in Parent entered this frame: parameters are its arguments.
	Parent *Frame
	Call   *ast.CallExpr

	// Below is the frame that was left upwards, to a caller or to the function around a literal; Site is the call or
	// the literal in this frame that leads to it.
	Below *Frame
	Site  ast.Node
}

// ValueKind says where a value ends when it is traced to its source.
type ValueKind int

// The kinds.
const (
	Expression ValueKind = iota // Expr makes it: a call of unseen code, a composite literal, a constant, an operation
	Parameter                   // Var is a parameter whose callers cannot be seen
	Zero                        // a variable that was never given a value
	Field                       // Expr is a field that the code seen does not assign
	Global                      // Expr is a package variable
	Element                     // an element of Expr
	Opaque                      // the trace gave up
)

// A Value is a possible source of an expression.
type Value struct {
	Kind  ValueKind
	Expr  ast.Expr
	Var   *types.Var
	Index int // which result of a call
	Frame *Frame
}

func (fr *Frame) depth() int {
	d := 0
	for p := fr; p != nil; p = p.Parent {
		d++
	}
	return d
}
