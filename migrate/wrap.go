package migrate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// managerPackages make managers: their import paths, and the name of the function.
var managerPackages = map[string]string{
	"sigs.k8s.io/controller-runtime":             "NewManager",
	"sigs.k8s.io/controller-runtime/pkg/manager": "New",
}

// A setup is a place where a manager is made.
type setup struct {
	file string
	line int
	// done: its options name a NewClient of their own.
	done bool
	// options is where a field is inserted into the composite literal of the options; -1 if it is not in sight.
	options int
	text    string // what to insert there, with %s for the value
}

// setups finds the places in a file where a manager is made.
func setups(name string, src []byte) []setup {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var out []setup
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 || !makesManager(file, call) {
			return true
		}
		s := setup{file: name, line: fset.Position(call.Pos()).Line, options: -1}
		if lit := optionsLiteral(file, call.Args[1], call.Pos()); lit != nil {
			s.options, s.text = insertion(fset, src, lit)
			s.done = hasKey(lit, "NewClient")
		}
		out = append(out, s)
		return true
	})
	return out
}

// insertion is where a field goes into a literal: behind the last one.
func insertion(fset *token.FileSet, src []byte, lit *ast.CompositeLit) (at int, text string) {
	if len(lit.Elts) == 0 {
		return fset.Position(lit.Lbrace).Offset + 1, "NewClient: %s"
	}
	at = fset.Position(lit.Elts[len(lit.Elts)-1].End()).Offset
	if fset.Position(lit.Elts[len(lit.Elts)-1].End()).Line == fset.Position(lit.Rbrace).Line {
		return at, ", NewClient: %s"
	}
	if at < len(src) && src[at] == ',' {
		at++
	}
	for at < len(src) && src[at] != '\n' { // a comment behind the field
		at++
	}
	return at, "\n\t\tNewClient: %s,"
}

func makesManager(file *ast.File, call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	for importPath, fn := range managerPackages {
		if sel.Sel.Name == fn && importName(file, importPath, map[string]string{"sigs.k8s.io/controller-runtime": "controllerruntime"}) == id.Name {
			return true
		}
	}
	return false
}

// importName is the name of an imported package in a file; empty if it is not imported.
func importName(file *ast.File, importPath string, own map[string]string) string {
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		if own[importPath] != "" {
			return own[importPath]
		}
		return path.Base(importPath)
	}
	return ""
}

// optionsLiteral is the literal of the options: the argument itself, or the last one that its variable gets before the call.
func optionsLiteral(file *ast.File, arg ast.Expr, before token.Pos) *ast.CompositeLit {
	if lit, ok := arg.(*ast.CompositeLit); ok {
		return lit
	}
	id, ok := arg.(*ast.Ident)
	if !ok {
		return nil
	}
	var found *ast.CompositeLit
	ast.Inspect(file, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Pos() > before || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		if lhs, ok := a.Lhs[0].(*ast.Ident); !ok || lhs.Name != id.Name {
			return true
		}
		if lit, ok := a.Rhs[0].(*ast.CompositeLit); ok {
			found = lit
		}
		return true
	})
	return found
}

func hasKey(lit *ast.CompositeLit, key string) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == key {
				return true
			}
		}
	}
	return false
}

// wrapped is the text of a file whose managers get clients that check the status writes of the kinds of some packages.
func wrapped(name string, src []byte, apis []*api) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	value, imports := newClient(file, apis)
	var edits []edit
	for _, s := range setups(name, src) {
		if s.done || s.options < 0 {
			continue
		}
		edits = append(edits, edit{s.options, s.options, fmt.Sprintf(s.text, value)})
	}
	if len(edits) == 0 {
		return src, nil
	}
	last := file.Imports[len(file.Imports)-1]
	at := fset.Position(last.End()).Offset
	for _, line := range imports {
		if decl := lastImport(file); decl != nil && decl.Lparen == token.NoPos {
			line = "\nimport " + line
		} else {
			line = "\n\t" + line
		}
		edits = append(edits, edit{at, at, line})
	}
	out, err := apply(src, edits)
	if err != nil {
		return nil, err
	}
	if formatted, err := format.Source(src); err != nil || !bytes.Equal(formatted, src) {
		return out, nil
	}
	return format.Source(out)
}

func lastImport(file *ast.File) *ast.GenDecl {
	var last *ast.GenDecl
	for _, d := range file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			last = gen
		}
	}
	return last
}

// newClient is the value of the option NewClient, and the imports that it needs.
func newClient(file *ast.File, apis []*api) (value string, lines []string) {
	taken := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
		}
		return true
	})
	var names []string
	for i, a := range apis {
		name := a.statusName()
		line := strconv.Quote(a.patchers)
		if taken[name] {
			name = fmt.Sprintf("%s%d", name, i+1)
			line = name + " " + line
		}
		taken[name] = true
		names = append(names, name)
		lines = append(lines, line)
	}
	if len(apis) == 1 {
		return names[0] + ".NewClient", lines
	}
	slicesName := importName(file, "slices", nil)
	if slicesName == "" {
		slicesName = "slices"
		lines = append(lines, `"slices"`)
	}
	var kinds []string
	for _, name := range names {
		kinds = append(kinds, name+".Kinds()")
	}
	lines = append(lines, `"github.com/statuspatcher/statuspatcher/patcher"`)
	return "patcher.NewClientFunc(patcher.Lock, " + slicesName + ".Concat(" + strings.Join(kinds, ", ") + "))", lines
}
