package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What golangci-lint loads ends no process and does nothing when it is loaded, but for the registration of the plugin.
func TestImportablePackagesDoNotPanic(t *testing.T) {
	var found []string
	for _, dir := range []string{".", "../internal/lint", "../internal/engine"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "classdoc" || d.Name() == "enginetest"): // a command, and a test support package
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				found = append(found, abrupt(path, file)...)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"gclplugin/plugin.go: func init"}; !slices.Equal(found, want) {
		t.Errorf("found %q, expected only %q", found, want)
	}
}

func TestAbrupt(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
import ("log"; "os")
func init() {}
func f() { panic(1); os.Exit(1); log.Fatal(1); log.Fatalln(); os.Getenv("") }
func (t) init() {}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.go: func init", "a.go: panic", "a.go: os.Exit", "a.go: log.Fatal", "a.go: log.Fatalln"}
	if got := abrupt("a.go", file); !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// abrupt returns what a file has of functions named init, and of calls that end the process.
func abrupt(path string, file *ast.File) (found []string) {
	add := func(what string) { found = append(found, fmt.Sprintf("%s: %s", path, what)) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				add("func init")
			}
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				if f.Name == "panic" {
					add("panic")
				}
			case *ast.SelectorExpr:
				pkg, ok := f.X.(*ast.Ident)
				if ok && (pkg.Name == "os" && f.Sel.Name == "Exit" || pkg.Name == "log" && strings.HasPrefix(f.Sel.Name, "Fatal")) {
					add(pkg.Name + "." + f.Sel.Name)
				}
			}
		}
		return true
	})
	return found
}
