package flow

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Def gives a variable a value.
type Def struct {
	Fn    *Func
	Node  ast.Node // the statement
	Rhs   ast.Expr // nil for a zero value
	Index int      // which result of Rhs, if Rhs is a call with several
	Range bool     // an element of Rhs
}

// FieldDef gives a struct field a value.
type FieldDef struct {
	Fn  *Func
	Rhs ast.Expr
}

// defsOf are the values that a node gives to v, without what happens inside literals.
func (f *Func) defsOf(node ast.Node, v *types.Var) []Def {
	var defs []Def
	switch n := node.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
			return nil
		}
		for i, lhs := range n.Lhs {
			if f.Pkg.Var(lhs) != v {
				continue
			}
			if len(n.Lhs) == len(n.Rhs) {
				defs = append(defs, Def{Fn: f, Node: n, Rhs: n.Rhs[i], Index: -1})
			} else {
				defs = append(defs, Def{Fn: f, Node: n, Rhs: n.Rhs[0], Index: i})
			}
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if f.Pkg.Info.Defs[name] != v {
				continue
			}
			switch {
			case len(n.Values) == 0:
				defs = append(defs, Def{Fn: f, Node: n, Index: -1})
			case len(n.Values) == len(n.Names):
				defs = append(defs, Def{Fn: f, Node: n, Rhs: n.Values[i], Index: -1})
			default:
				defs = append(defs, Def{Fn: f, Node: n, Rhs: n.Values[0], Index: i})
			}
		}
	case *ast.Ident:
		// The graph holds the variables of a range clause as bare identifiers.
		if f.Pkg.Var(n) != v {
			return nil
		}
		if r, ok := f.Parent(n).(*ast.RangeStmt); ok && (r.Key == n || r.Value == n) {
			defs = append(defs, Def{Fn: f, Node: n, Rhs: r.X, Range: true, Index: -1})
		}
	}
	return defs
}

// ReachingDefs are the values that v can have at p, and whether it can still have the one it had on entry. Assignments
// inside literals that lie on the way count too, without hiding earlier ones.
func (f *Func) ReachingDefs(v *types.Var, p Point) (defs []Def, entry bool) {
	entry = f.WalkBack(p, func(q Point) bool {
		here := f.defsOf(q.Node(), v)
		defs = append(defs, here...)
		if len(here) > 0 {
			return false
		}
		defs = append(defs, f.litDefs(q.Node(), v)...)
		return true
	})
	return defs, entry
}

// litDefs are the assignments to v inside the literals of a node.
func (f *Func) litDefs(node ast.Node, v *types.Var) []Def {
	var defs []Def
	f.EachLit(node, func(lit *Func) {
		defs = append(defs, lit.AllDefs(v)...)
	})
	return defs
}

// EachLit visits the outermost literals inside a node.
func (f *Func) EachLit(node ast.Node, visit func(*Func)) {
	ast.Inspect(node, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			if l := f.Pkg.byNode[lit]; l != nil {
				visit(l)
			}
			return false
		}
		return true
	})
}

// AllDefs are all values given to v in f, literals inside included.
func (f *Func) AllDefs(v *types.Var) []Def {
	var defs []Def
	if f.Body() == nil {
		return nil
	}
	ast.Inspect(f.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if l := f.Pkg.byNode[n]; l != nil {
				defs = append(defs, l.AllDefs(v)...)
			}
			return false
		case *ast.AssignStmt, *ast.ValueSpec, *ast.Ident:
			defs = append(defs, f.defsOf(n, v)...)
		}
		return true
	})
	return defs
}

// FieldDefs are the values that the package gives to a struct field, by assignment or in a composite literal.
func (pkg *Package) FieldDefs(field *types.Var) []FieldDef {
	if pkg.fieldDefs == nil {
		pkg.fieldDefs = map[*types.Var][]FieldDef{}
		for _, f := range pkg.byNode {
			if f.Body() != nil {
				pkg.collectFieldDefs(f)
			}
		}
	}
	return pkg.fieldDefs[field]
}

func (pkg *Package) collectFieldDefs(f *Func) {
	add := func(id *ast.Ident, rhs ast.Expr) {
		if v, ok := pkg.Info.Uses[id].(*types.Var); ok && v.IsField() {
			v = v.Origin()
			pkg.fieldDefs[v] = append(pkg.fieldDefs[v], FieldDef{Fn: f, Rhs: rhs})
		}
	}
	ast.Inspect(f.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n.Body == f.Body()
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				add(id, n.Value)
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
					add(sel.Sel, n.Rhs[i])
				}
			}
		}
		return true
	})
}
