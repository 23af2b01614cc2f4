package driver

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// tidyImports formats a fixed file and drops the imports that nothing uses any more. Those that were not used before
// are no business of a fix, but would not have compiled.
func tidyImports(name string, src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, imp := range append([]*ast.ImportSpec{}, file.Imports...) {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil || imp.Name != nil && (imp.Name.Name == "_" || imp.Name.Name == ".") || usesImport(file, imp, path) {
			continue
		}
		alias := ""
		if imp.Name != nil {
			alias = imp.Name.Name
		}
		astutil.DeleteNamedImport(fset, file, alias, path)
	}
	var buf bytes.Buffer
	if err := format.Node(&buf, fset, file); err != nil {
		return nil, err
	}
	return format.Source(buf.Bytes())
}

// usesImport looks for a selector on one of the names that the package can have: its alias, or an element of its path.
func usesImport(file *ast.File, imp *ast.ImportSpec, path string) bool {
	names := map[string]bool{}
	if imp.Name != nil {
		names[imp.Name.Name] = true
	} else {
		for _, part := range strings.Split(path, "/") {
			names[strings.TrimPrefix(part, "go-")] = true
			names[strings.ReplaceAll(part, "-", "")] = true
			if base, _, ok := strings.Cut(part, "."); ok {
				names[base] = true
			}
		}
	}
	used := false
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && names[id.Name] {
				used = true
			}
		}
		return !used
	})
	return used
}
