package flow

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// A Func is a function declaration or a function literal.
type Func struct {
	Pkg   *Package
	Decl  *ast.FuncDecl
	Lit   *ast.FuncLit
	Outer *Func       // of a literal: the function around it; nil at package level
	Obj   *types.Func // of a declaration

	root   *root
	graph  *cfg.CFG
	points map[ast.Node]Point
	preds  map[*cfg.Block][]*cfg.Block
}

// root is a top-level declaration, whose parent links all functions inside it share.
type root struct {
	node    ast.Node
	parents map[ast.Node]ast.Node
}

// A Point is the place of a node in a function's control-flow graph.
type Point struct {
	block *cfg.Block
	index int
}

// Valid reports whether p is a place at all.
func (p Point) Valid() bool { return p.block != nil }

// Node is the statement or expression at p.
func (p Point) Node() ast.Node { return p.block.Nodes[p.index] }

// Body is the function's body; nil if it has none.
func (f *Func) Body() *ast.BlockStmt {
	if f.Decl != nil {
		return f.Decl.Body
	}
	return f.Lit.Body
}

// Node is the declaration or the literal.
func (f *Func) Node() ast.Node {
	if f.Decl != nil {
		return f.Decl
	}
	return f.Lit
}

// Type is the function's syntax of parameters and results.
func (f *Func) Type() *ast.FuncType {
	if f.Decl != nil {
		return f.Decl.Type
	}
	return f.Lit.Type
}

// Signature is the function's type; nil where the package did not type-check.
func (f *Func) Signature() *types.Signature {
	if f.Obj != nil {
		return f.Obj.Signature()
	}
	if f.Lit != nil {
		sig, _ := f.Pkg.TypeOf(f.Lit).(*types.Signature)
		return sig
	}
	return nil
}

// Outermost is the declaration around a literal.
func (f *Func) Outermost() *Func {
	for f.Outer != nil {
		f = f.Outer
	}
	return f
}

// Parent is the syntax node around n.
func (f *Func) Parent(n ast.Node) ast.Node {
	if f.root.parents == nil {
		f.root.parents = map[ast.Node]ast.Node{}
		var stack []ast.Node
		ast.Inspect(f.root.node, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if len(stack) > 0 {
				f.root.parents[n] = stack[len(stack)-1]
			}
			stack = append(stack, n)
			return true
		})
	}
	return f.root.parents[n]
}

// Graph is the control-flow graph, built when first asked for; nil without a body.
func (f *Func) Graph() *cfg.CFG {
	if f.graph == nil && f.Body() != nil {
		f.graph = cfg.New(f.Body(), f.mayReturn)
		f.points = map[ast.Node]Point{}
		f.preds = map[*cfg.Block][]*cfg.Block{}
		for _, b := range f.graph.Blocks {
			for i, n := range b.Nodes {
				f.points[n] = Point{b, i}
			}
			for _, s := range b.Succs {
				f.preds[s] = append(f.preds[s], b)
			}
		}
	}
	return f.graph
}

func (f *Func) mayReturn(call *ast.CallExpr) bool {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := f.Pkg.Info.Uses[id].(*types.Builtin); ok {
			return b.Name() != "panic"
		}
	}
	fn := f.Pkg.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return true
	}
	switch fn.Pkg().Path() + "." + fn.Name() {
	case "os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "k8s.io/klog/v2.Fatal", "k8s.io/klog/v2.Fatalf",
		"github.com/sirupsen/logrus.Fatal", "github.com/sirupsen/logrus.Fatalf":
		return false
	}
	return true
}

// At is the place of n, or of the statement that n is part of. Nodes inside a literal are at the place of the literal.
func (f *Func) At(n ast.Node) Point {
	if f.Graph() == nil {
		return Point{}
	}
	for ; n != nil; n = f.Parent(n) {
		if p, ok := f.points[n]; ok {
			return p
		}
		if n == f.Node() {
			break
		}
	}
	return Point{}
}

// Entry is the place before the first statement.
func (f *Func) Entry() Point {
	if f.Graph() == nil {
		return Point{}
	}
	return Point{f.graph.Blocks[0], -1}
}

// Walk visits what can run after p, in each order that control can take, each block once. A visit that returns false
// ends that path.
func (f *Func) Walk(p Point, visit func(Point) bool) {
	if !p.Valid() {
		return
	}
	seen := map[*cfg.Block]bool{}
	var run func(b *cfg.Block, from int)
	run = func(b *cfg.Block, from int) {
		for i := from; i < len(b.Nodes); i++ {
			if !visit(Point{b, i}) {
				return
			}
		}
		for _, s := range b.Succs {
			if !seen[s] {
				seen[s] = true
				run(s, 0)
			}
		}
	}
	run(p.block, p.index+1)
}

// WalkBack visits what can run before p, and reports whether the function's entry is among it.
func (f *Func) WalkBack(p Point, visit func(Point) bool) (entry bool) {
	if !p.Valid() {
		return false
	}
	seen := map[*cfg.Block]bool{}
	var run func(b *cfg.Block, from int)
	run = func(b *cfg.Block, from int) {
		for i := from; i >= 0; i-- {
			if !visit(Point{b, i}) {
				return
			}
		}
		if b == f.graph.Blocks[0] {
			entry = true
		}
		for _, s := range f.preds[b] {
			if s.Live && !seen[s] {
				seen[s] = true
				run(s, len(s.Nodes)-1)
			}
		}
	}
	run(p.block, p.index-1)
	return entry
}

// Reaches reports whether b can run after a.
func (f *Func) Reaches(a, b Point) bool {
	found := false
	f.Walk(a, func(p Point) bool {
		found = found || p == b
		return !found
	})
	return found
}

// Between visits the places that can lie on a way from a to b, both excluded.
func (f *Func) Between(a, b Point, visit func(Point)) {
	before := map[Point]bool{}
	f.WalkBack(b, func(p Point) bool {
		before[p] = true
		return p != a
	})
	f.Walk(a, func(p Point) bool {
		if p == b {
			return false
		}
		if before[p] && p != a {
			visit(p)
		}
		return true
	})
}

// PointAt is the i-th node of a block.
func (f *Func) PointAt(b *cfg.Block, i int) Point { return Point{b, i} }

// Leaves reports whether control can run from p, which may be the entry, to the end of the function on a way on which stop is
// never true: at a return statement, or behind the last statement.
func (f *Func) Leaves(p Point, stop func(Point) bool, ends func(*ast.ReturnStmt) bool) bool {
	found := false
	visit := func(q Point) bool {
		if found || stop(q) {
			return false
		}
		if ret, ok := q.Node().(*ast.ReturnStmt); ok {
			found = found || ends(ret)
			return false
		}
		if len(q.block.Succs) == 0 && q.index == len(q.block.Nodes)-1 && !f.endsProgram(q.Node()) {
			found = true
		}
		return true
	}
	f.Walk(p, visit)
	return found || f.fallsThrough(p, stop)
}

// fallsThrough reports whether an empty block at the end of the body can be reached from p: an if without an else, or a loop.
func (f *Func) fallsThrough(p Point, stop func(Point) bool) bool {
	if !p.Valid() {
		return false
	}
	seen := map[*cfg.Block]bool{}
	var run func(b *cfg.Block, from int) bool
	run = func(b *cfg.Block, from int) bool {
		for i := from; i < len(b.Nodes); i++ {
			if stop(Point{b, i}) {
				return false
			}
		}
		if len(b.Succs) == 0 {
			return len(b.Nodes) == 0 && b.Live || from == len(b.Nodes) && !f.endsAt(b)
		}
		for _, s := range b.Succs {
			if !seen[s] {
				seen[s] = true
				if run(s, 0) {
					return true
				}
			}
		}
		return false
	}
	return run(p.block, p.index+1)
}

// endsAt: the block ends with a return, or with a call that does not return.
func (f *Func) endsAt(b *cfg.Block) bool {
	if len(b.Nodes) == 0 {
		return false
	}
	last := b.Nodes[len(b.Nodes)-1]
	_, returns := last.(*ast.ReturnStmt)
	return returns || f.endsProgram(last)
}

func (f *Func) endsProgram(n ast.Node) bool {
	stmt, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*ast.CallExpr)
	return ok && !f.mayReturn(call)
}
