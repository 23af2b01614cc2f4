package site

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// TestCode are the functions and types of a package that are for tests. A declaration that names a test framework is,
// and with it a type's methods; where half of the functions are, the whole package is. A helper that strayed into
// production code, or an option that only a test can set, takes nothing else with it.
func TestCode(pkg *flow.Package) map[types.Object]bool {
	s := &support{pkg: pkg, test: map[types.Object]bool{}}
	for _, file := range pkg.Files {
		if IsTest(pkg.Fset, file) {
			s.declared(file, func(obj types.Object, _ ast.Node) { s.test[obj] = true })
		}
	}
	if !importsFramework(pkg.Types) {
		return s.test
	}
	s.each(func(obj types.Object, node ast.Node) {
		if namesFramework(pkg, node) {
			s.test[obj] = true
		}
	})
	functions, tests := 0, 0
	s.each(func(obj types.Object, node ast.Node) {
		fn, ok := obj.(*types.Func)
		if !ok {
			return
		}
		if recv := kube.Named(receiver(fn)); recv != nil && s.test[recv.Obj()] {
			s.test[obj] = true
		}
		functions++
		if s.test[obj] {
			tests++
		}
	})
	if 2*tests >= functions {
		s.each(func(obj types.Object, _ ast.Node) { s.test[obj] = true })
	}
	return s.test
}

type support struct {
	pkg  *flow.Package
	test map[types.Object]bool
}

// each visits the functions, methods and types of the files that are no test files.
func (s *support) each(visit func(types.Object, ast.Node)) {
	for _, file := range s.pkg.Files {
		if !IsTest(s.pkg.Fset, file) {
			s.declared(file, visit)
		}
	}
}

func (s *support) declared(file *ast.File, visit func(types.Object, ast.Node)) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if obj := s.pkg.Info.Defs[d.Name]; obj != nil {
				visit(obj, d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && s.pkg.Info.Defs[ts.Name] != nil {
					visit(s.pkg.Info.Defs[ts.Name], ts)
				}
			}
		}
	}
}

// IsTest reports whether a file is part of a test by its name.
func IsTest(fset *token.FileSet, file *ast.File) bool {
	return strings.HasSuffix(fset.File(file.FileStart).Name(), "_test.go")
}

func receiver(fn *types.Func) types.Type {
	if recv := fn.Signature().Recv(); recv != nil {
		return recv.Type()
	}
	return nil
}

func importsFramework(pkg *types.Package) bool {
	for _, imp := range pkg.Imports() {
		if isFramework(imp.Path()) {
			return true
		}
	}
	return false
}

// namesFramework: production code may ask testing.Testing whether it runs in a test; all else is for tests.
func namesFramework(pkg *flow.Package, node ast.Node) bool {
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			obj := pkg.Info.Uses[id]
			if _, name := obj.(*types.PkgName); !name && obj != nil && obj.Pkg() != nil {
				found = isFramework(obj.Pkg().Path()) && obj.Name() != "Testing"
			}
		}
		return !found
	})
	return found
}

// isFramework: by import path, as test frameworks and mocks are known.
func isFramework(path string) bool {
	switch path {
	case "testing", "github.com/golang/mock/gomock", "go.uber.org/mock/gomock":
		return true
	}
	for _, prefix := range []string{"github.com/onsi/ginkgo", "github.com/onsi/gomega", "github.com/stretchr/testify"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
