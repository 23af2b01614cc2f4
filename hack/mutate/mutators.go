package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/printer"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// A mutant is one change of the code, which is made while the program runs if it is the one that is asked for.
type mutant struct {
	id            int
	file          string
	position      string
	before, after string
	verdict       verdict
}

// A mutator rewrites one file. Each rewrite keeps the original code and adds the mutant beside it.
type mutator struct {
	fset    *token.FileSet
	info    *types.Info
	scope   *types.Scope // of the package
	qualify types.Qualifier
	mutants *[]*mutant
	results []*ast.FieldList // of the functions around the node
	// choices are the conditions that have been rewritten, true for one whose mutant is its negation.
	choices map[ast.Node]bool
	// source is the text of the nodes before anything in them was rewritten.
	source map[ast.Node]original
}

// original is what a node was.
type original struct {
	text string
	at   token.Pos
}

// swapped has the comparisons that are swapped, and with what.
var swapped = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
}

func (m *mutator) file(f *ast.File) {
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			m.function(fn.Type, fn.Body)
		}
	}
}

// function rewrites a body from the inside out, so that mutants nest.
func (m *mutator) function(of *ast.FuncType, body *ast.BlockStmt) {
	m.results = append(m.results, of.Results)
	astutil.Apply(body, func(c *astutil.Cursor) bool {
		m.remember(c.Node())
		switch n := c.Node().(type) {
		case *ast.FuncLit:
			m.function(n.Type, n.Body)
			return false
		case *ast.GenDecl, *ast.ArrayType:
			return false // constants must stay constant
		case ast.Expr:
			if _, ok := c.Parent().(*ast.CaseClause); ok && m.isConstant(n) {
				return false
			}
			if m.isConstant(n) {
				m.constant(c, n)
				return false
			}
		}
		return true
	}, func(c *astutil.Cursor) bool {
		m.rewrite(c)
		return true
	})
	m.results = m.results[:len(m.results)-1]
}

func (m *mutator) rewrite(c *astutil.Cursor) {
	switch n := c.Node().(type) {
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok && m.isBool(n) {
			id := m.add(n, m.text(n.X)+" "+to.String()+" "+m.text(n.Y))
			chosen := m.choose(id, &ast.BinaryExpr{X: paren(n.X), Op: to, Y: paren(n.Y)}, n)
			m.choices[chosen] = n.Op == token.EQL || n.Op == token.NEQ
			m.replace(c, chosen)
		}
	case *ast.IfStmt:
		n.Cond = m.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			n.Cond = m.negate(n.Cond)
		}
	case *ast.CaseClause:
		for i, expr := range n.List {
			if m.isBool(expr) {
				n.List[i] = m.negate(expr)
			}
		}
	case *ast.ReturnStmt:
		m.zeroReturn(c, n)
	case *ast.ExprStmt:
		if !isPanic(n.X) {
			m.remove(c, n)
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			m.remove(c, n)
		}
	case *ast.IncDecStmt:
		m.remove(c, n)
	case *ast.DeferStmt:
		m.remove(c, n)
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE || n.Tok == token.BREAK {
			m.remove(c, n)
		}
	}
}

// negate adds the negation of a condition, unless its mutant is that already.
func (m *mutator) negate(cond ast.Expr) ast.Expr {
	if m.choices[cond] {
		return cond
	}
	id := m.add(cond, "!("+m.text(cond)+")")
	return &ast.BinaryExpr{X: paren(cond), Op: token.NEQ, Y: call("mutated", id)}
}

// choose is (mutated(id) && (mutation) || !mutated(id) && (original)).
func (m *mutator) choose(id int, mutation, original ast.Expr) ast.Expr {
	return paren(&ast.BinaryExpr{
		X:  &ast.BinaryExpr{X: call("mutated", id), Op: token.LAND, Y: paren(mutation)},
		Op: token.LOR,
		Y:  &ast.BinaryExpr{X: &ast.UnaryExpr{Op: token.NOT, X: call("mutated", id)}, Op: token.LAND, Y: paren(original)},
	})
}

// remove wraps a statement, so that it can be skipped. It must stand in a list of statements.
func (m *mutator) remove(c *astutil.Cursor, stmt ast.Stmt) {
	if c.Index() < 0 {
		return
	}
	id := m.add(stmt, "(deleted)")
	c.Replace(&ast.IfStmt{Cond: &ast.UnaryExpr{Op: token.NOT, X: call("mutated", id)}, Body: &ast.BlockStmt{List: []ast.Stmt{stmt}}})
}

// zeroReturn adds a return of zero values, and of the opposite of a single bool.
func (m *mutator) zeroReturn(c *astutil.Cursor, n *ast.ReturnStmt) {
	results := m.results[len(m.results)-1]
	if len(n.Results) == 0 || c.Index() < 0 || m.isZero(n.Results) {
		return
	}
	if len(n.Results) == 1 && m.isBool(n.Results[0]) {
		n.Results[0] = m.negate(n.Results[0])
		return
	}
	var zeros []ast.Expr
	for _, field := range results.List {
		if m.isShadowed(field.Type, n.Pos()) {
			return
		}
		for range max(1, len(field.Names)) {
			zeros = append(zeros, &ast.StarExpr{X: &ast.CallExpr{Fun: ast.NewIdent("new"), Args: []ast.Expr{field.Type}}})
		}
	}
	id := m.add(n, "return zero values")
	c.Replace(&ast.BlockStmt{List: []ast.Stmt{
		&ast.IfStmt{Cond: call("mutated", id), Body: &ast.BlockStmt{List: []ast.Stmt{&ast.ReturnStmt{Results: zeros}}}},
		n,
	}})
}

// isShadowed reports whether a variable has the name of something in the type.
func (m *mutator) isShadowed(t ast.Expr, at token.Pos) (shadowed bool) {
	ast.Inspect(t, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && m.info.Uses[id] != nil {
			if _, found := m.scope.Innermost(at).LookupParent(id.Name, at); found != nil && found.Name() == id.Name && found != m.info.Uses[id] {
				shadowed = shadowed || isLocal(found)
			}
		}
		return true
	})
	return shadowed
}

func isLocal(obj types.Object) bool { _, ok := obj.(*types.Var); return ok }

// constant makes an integer one larger, and a bool the other one.
func (m *mutator) constant(c *astutil.Cursor, n ast.Expr) {
	if inMake(c.Parent()) {
		return // a capacity changes nothing
	}
	switch t, ok := m.info.Types[n].Type.Underlying().(*types.Basic); {
	case !ok:
	case t.Info()&types.IsBoolean != 0:
		if _, returned := c.Parent().(*ast.ReturnStmt); returned {
			return // zeroReturn does it
		}
		id := m.add(n, "!"+m.text(n))
		m.replace(c, paren(&ast.BinaryExpr{X: n, Op: token.NEQ, Y: call("mutated", id)}))
	case t.Info()&types.IsInteger != 0 && t.Kind() != types.UnsafePointer:
		as := ast.NewIdent(types.TypeString(types.Default(m.info.Types[n].Type), m.qualify))
		id := m.add(n, m.text(n)+" + 1")
		more := &ast.CallExpr{Fun: as, Args: []ast.Expr{call("mutatedInt", id)}}
		m.replace(c, paren(&ast.BinaryExpr{X: &ast.CallExpr{Fun: as, Args: []ast.Expr{n}}, Op: token.ADD, Y: more}))
	}
}

func (m *mutator) add(n ast.Node, after string) int {
	at := m.fset.Position(m.source[n].at)
	id := len(*m.mutants) + 1
	*m.mutants = append(*m.mutants, &mutant{
		id: id, file: filepath.Base(at.Filename), before: m.text(n), after: after,
		position: fmt.Sprintf("%s:%d:%d", filepath.Base(at.Filename), at.Line, at.Column),
	})
	return id
}

func (m *mutator) replace(c *astutil.Cursor, with ast.Expr) {
	m.source[with] = m.source[c.Node()]
	c.Replace(with)
}

// remember keeps the source of what may be rewritten.
func (m *mutator) remember(n ast.Node) {
	switch n.(type) {
	case ast.Expr, *ast.ReturnStmt, *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.BranchStmt:
		var out bytes.Buffer
		_ = printer.Fprint(&out, m.fset, n)
		m.source[n] = original{text: strings.Join(strings.Fields(out.String()), " "), at: n.Pos()}
	}
}

// text is the source of a node on one line.
func (m *mutator) text(n ast.Node) string {
	text := m.source[n].text
	if len(text) > 120 {
		text = text[:120] + "..."
	}
	return text
}

func (m *mutator) isConstant(e ast.Expr) bool {
	tv, ok := m.info.Types[e]
	return ok && tv.Value != nil && tv.Value.Kind() != constant.Unknown && tv.IsValue()
}

func (m *mutator) isBool(e ast.Expr) bool {
	if _, ok := m.choices[e]; ok {
		return true
	}
	tv, ok := m.info.Types[e]
	if !ok {
		return false
	}
	t, ok := types.Default(tv.Type).(*types.Basic)
	return ok && t.Kind() == types.Bool
}

// isZero reports whether the results are zero already.
func (m *mutator) isZero(results []ast.Expr) bool {
	for _, r := range results {
		switch tv := m.info.Types[r]; {
		case tv.IsNil():
		case tv.Value != nil && (tv.Value.ExactString() == "0" || tv.Value.ExactString() == `""`):
		default:
			return false
		}
	}
	return true
}

func isPanic(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

func inMake(parent ast.Node) bool {
	c, ok := parent.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == "make"
}

func paren(e ast.Expr) ast.Expr { return &ast.ParenExpr{X: e} }

func call(name string, id int) ast.Expr {
	return &ast.CallExpr{Fun: ast.NewIdent(name), Args: []ast.Expr{&ast.BasicLit{Kind: token.INT, Value: fmt.Sprint(id)}}}
}
