package migrate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
)

// frame fails if a rewrite changes a declaration of a file that none of its edits touches: whatever goes wrong in an edit, nothing else
// in the file may change with it.
func frame(name string, before, after []byte, edits []edit) error {
	was, err := printedDecls(name, before, func(from, to int) bool {
		for _, e := range edits {
			if e.from < to && from < e.to || e.from == e.to && from < e.from && e.from < to {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	is, err := printedDecls(name, after, func(int, int) bool { return true })
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, d := range is {
		count[d.text]++
	}
	for _, d := range was {
		if count[d.text]--; d.untouched && count[d.text] < 0 {
			return fmt.Errorf("%s:%d: the rewrite changes a declaration that it has nothing to do with", name, d.line)
		}
	}
	if len(was) != len(is) {
		return fmt.Errorf("%s: the rewrite changes the number of declarations from %d to %d", name, len(was), len(is))
	}
	return nil
}

type printedDecl struct {
	text      string
	line      int
	untouched bool
}

// printedDecls are the declarations of a file but for its imports.
func printedDecls(name string, src []byte, untouched func(from, to int) bool) ([]printedDecl, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []printedDecl
	for _, d := range file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			continue
		}
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, d); err != nil {
			return nil, err
		}
		from, to := fset.Position(d.Pos()), fset.Position(d.End())
		out = append(out, printedDecl{b.String(), from.Line, untouched(from.Offset, to.Offset)})
	}
	return out, nil
}
