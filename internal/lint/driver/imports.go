package driver

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// tidyImports formats a fixed file and drops the imports that nothing uses any more. names are the names of the packages
// that the unfixed package imports, by path. Those that were not used before
// are no business of a fix, but would not have compiled.
func tidyImports(name string, src []byte, names map[string]string) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, imp := range append([]*ast.ImportSpec{}, file.Imports...) {
		importPath, err := strconv.Unquote(imp.Path.Value)
		if err != nil || imp.Name != nil && (imp.Name.Name == "_" || imp.Name.Name == ".") || usesImport(file, imp, importPath, names[importPath]) {
			continue
		}
		alias := ""
		if imp.Name != nil {
			alias = imp.Name.Name
		}
		astutil.DeleteNamedImport(fset, file, alias, importPath)
	}
	var buf bytes.Buffer
	if err := format.Node(&buf, fset, file); err != nil {
		return nil, err
	}
	return format.Source(buf.Bytes())
}

// usesImport looks for a selector on the name of an imported package: its alias, or else its own name. Only for a package
// that the fix itself has added is that name not known; it is the last element of the path.
func usesImport(file *ast.File, imp *ast.ImportSpec, importPath, name string) bool {
	if imp.Name != nil {
		name = imp.Name.Name
	}
	if name == "" {
		name = path.Base(importPath)
	}
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
