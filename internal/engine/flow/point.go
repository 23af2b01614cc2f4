package flow

import (
	"go/ast"
	"strconv"
)

// Next is the place after p in its block; it may be past the end.
func (p Point) Next() Point { return Point{p.block, p.index + 1} }

// InBlock reports whether there is a node at p.
func (p Point) InBlock() bool { return p.index < len(p.block.Nodes) }

// LastInBlock reports whether p is its block's last node.
func (p Point) LastInBlock() bool { return p.index == len(p.block.Nodes)-1 }

// Branches reports whether p is the condition on which its block branches: its successors are then, else.
func (p Point) Branches() bool {
	if len(p.block.Succs) != 2 || !p.LastInBlock() {
		return false
	}
	_, ok := p.Node().(ast.Expr)
	return ok
}

// Successors are the starts of the blocks that can follow.
func (p Point) Successors() []Point {
	var out []Point
	for _, s := range p.block.Succs {
		out = append(out, Point{s, 0})
	}
	return out
}

// BlockKey names the block of p within its function.
func (p Point) BlockKey() string { return strconv.Itoa(int(p.block.Index)) }

// UsedAsValue reports whether f is also used other than by calling it: then not all its callers can be seen.
func (f *Func) UsedAsValue() bool {
	return f.Obj != nil && f.Pkg.prog.values[f.Obj.FullName()]
}
