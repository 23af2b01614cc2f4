package migrate

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// imports gives the names by which a file refers to packages of patchers, and the edits that import them.
type imports struct {
	src   *sources
	pkg   *flow.Package
	file  *ast.File
	names map[string]string // by import path
	added []string          // import paths
}

func newImports(src *sources, pkg *flow.Package, file *ast.File) *imports {
	return &imports{src: src, pkg: pkg, file: file, names: map[string]string{}}
}

// name returns the name of a package in the file, and remembers to import it.
func (im *imports) name(importPath, own, apiPath string) string {
	if name, ok := im.names[importPath]; ok {
		return name
	}
	name, found := im.importedAs(importPath, own)
	if !found {
		name = own
		if im.taken(name) {
			if alias, ok := im.importedAs(apiPath, ""); ok && alias != "" && !im.taken(alias+"status") {
				name = alias + "status"
			} else {
				name = own + "patchers"
			}
		}
		im.added = append(im.added, importPath)
	}
	im.names[importPath] = name
	return name
}

func (im *imports) importedAs(importPath, own string) (string, bool) {
	for _, spec := range im.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, spec.Name.Name != "_" && spec.Name.Name != "."
		}
		return own, true
	}
	return "", false
}

// taken reports whether a name means something in the file already.
func (im *imports) taken(name string) bool {
	for _, used := range im.names {
		if used == name {
			return true
		}
	}
	if im.pkg.Types.Scope().Lookup(name) != nil {
		return true
	}
	found := false
	ast.Inspect(im.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	for _, spec := range im.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name == nil && path.Base(p) == name {
			found = true
		}
	}
	return found
}

// spec is the line that imports a package.
func (im *imports) spec(importPath string) string {
	if name := im.names[importPath]; name != path.Base(importPath) {
		return name + " " + strconv.Quote(importPath)
	}
	return strconv.Quote(importPath)
}

// edit adds the imports: each behind the import that it has most of its path in common with.
func (im *imports) edit(edits fileEdits) {
	for _, importPath := range im.added {
		nearest, common := (*ast.ImportSpec)(nil), -1
		for _, spec := range im.file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil || p == "C" {
				continue
			}
			if n := commonElements(p, importPath); n >= common {
				nearest, common = spec, n
			}
		}
		if nearest == nil {
			edits.replace(im.src.fset, im.file.Name.End(), im.file.Name.End(), "\n\nimport "+im.spec(importPath))
			continue
		}
		if decl := im.declOf(nearest); decl != nil && decl.Lparen == token.NoPos {
			edits.replace(im.src.fset, decl.End(), decl.End(), "\nimport "+im.spec(importPath))
			continue
		}
		end := nearest.End()
		if nearest.Comment != nil {
			end = nearest.Comment.End()
		}
		edits.replace(im.src.fset, end, end, "\n\t"+im.spec(importPath))
	}
}

func (im *imports) declOf(spec *ast.ImportSpec) *ast.GenDecl {
	for _, d := range im.file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.IMPORT && gen.Pos() <= spec.Pos() && spec.End() <= gen.End() {
			return gen
		}
	}
	return nil
}

func commonElements(a, b string) int {
	n, bs := 0, strings.Split(b, "/")
	for i, e := range strings.Split(a, "/") {
		if i >= len(bs) || bs[i] != e {
			break
		}
		n++
	}
	return n
}

// tidy formats a rewritten file, if it was formatted before, and drops the imports that the rewrite has left without a use.
// names are the names of imported packages by path.
func tidy(name string, before, after []byte, names map[string]string) ([]byte, error) {
	was, err := parser.ParseFile(token.NewFileSet(), name, before, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, after, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		local := names[p]
		if local == "" {
			local = path.Base(p)
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "_" || local == "." || p == "C" || !usesName(was, local) || usesName(file, local) {
			continue
		}
		edits = append(edits, lineOf(after, fset.Position(spec.Pos()).Offset, fset.Position(spec.End()).Offset))
	}
	out, err := apply(after, edits)
	if err != nil {
		return nil, err
	}
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return out, nil
	}
	return format.Source(out)
}

// lineOf widens a range to the whole line, if nothing else is on it.
func lineOf(src []byte, from, to int) edit {
	start, end := from, to
	for start > 0 && (src[start-1] == ' ' || src[start-1] == '\t') {
		start--
	}
	for end < len(src) && src[end] != '\n' {
		end++
	}
	if start > 0 && src[start-1] != '\n' {
		return edit{from, to, ""}
	}
	return edit{start, min(end+1, len(src)), ""}
}

func usesName(file *ast.File, name string) bool {
	used := false
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == name {
				used = true
			}
		}
		return !used
	})
	return used
}
