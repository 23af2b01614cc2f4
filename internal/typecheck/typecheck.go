// Package typecheck finds what does not compile in a module, from the sources alone. The go command would compile all
// dependencies first, and again for each module that vendors them.
package typecheck

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Module type-checks the packages of the module in dir that match the patterns. It returns their errors, with file:line:column, and
// those of finding the packages that they import. Function bodies of dependencies are left out, and so are errors in them.
//
// The environment is that of os/exec's Cmd; nil is the one of this process.
func Module(dir string, env []string, patterns ...string) error {
	if env == nil {
		env = os.Environ()
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	own := func(file string) bool {
		rel, err := filepath.Rel(dir, file)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) && !strings.HasPrefix(rel, "vendor"+string(filepath.Separator))
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax,
		Dir:  dir,
		// A package with cgo would have to be compiled.
		Env: append(env, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
			if file != nil && !own(name) {
				withoutBodies(file)
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		return err
	}
	return errors.Join(errs(loaded)...)
}

func withoutBodies(file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}

func errs(loaded []*packages.Package) []error {
	if len(loaded) == 0 {
		return []error{errors.New("no package matches")}
	}
	var out []error
	for _, p := range loaded {
		for _, err := range p.Errors {
			out = append(out, fmt.Errorf("%s: %w", p.PkgPath, err))
		}
	}
	return out
}
