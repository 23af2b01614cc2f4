package patcher_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Generated equality that did not know a field would skip its writes in silence.
func TestS19_AChangedTypeDoesNotCompile(t *testing.T) {
	api := loadAPI(t)
	for _, row := range []struct {
		name, old, changed string
		compiles           bool
	}{
		{"control: unchanged", "Phase string", "Phase string", true},
		{"a field more", "type CellStatus struct {", "type CellStatus struct {\n\tExtra string `json:\"extra,omitempty\"`", false},
		{"a field less", "\tCounter int64 `json:\"counter,omitempty\"`\n", "", false},
		{"another type", "Counter int64", "Counter int32", false},
		{"another tag", `json:"tier,omitempty"`, `json:"tier"`, false},
		{"a field more, in a nested type that is compared field by field", "type Plan struct {", "type Plan struct {\n\tExtra []string `json:\"extra,omitempty\"`", false},
		{"a field more, in a type that is compared with ==, which knows it at once", "type Share struct {", "type Share struct {\n\tExtra string `json:\"extra,omitempty\"`", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := api.compileWith(t, row.old, row.changed); (err == nil) != row.compiles {
				t.Errorf("compiles: %v, want %v: %v", err == nil, row.compiles, err)
			}
		})
	}
}

// An api is the package of the kinds and the one generated from it. What they import is compiled once.
type api struct{ kinds, generated *packages.Package }

func loadAPI(t *testing.T) api {
	t.Helper()
	const kinds, generated = "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1", "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile | packages.NeedTypes,
	}, kinds, generated)
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(loaded) > 0 || len(loaded) != 2 {
		t.Fatalf("%d packages", len(loaded))
	}
	return api{kinds: loaded[0], generated: loaded[1]}
}

// compileWith type-checks both packages from source, with cell_types.go in which old is replaced.
func (a api) compileWith(t *testing.T, old, changed string) error {
	t.Helper()
	kinds, err := check(a.kinds, nil, func(name string, source []byte) []byte {
		if filepath.Base(name) != "cell_types.go" {
			return source
		}
		if !bytes.Contains(source, []byte(old)) {
			t.Fatalf("%s has no %q any more", name, old)
		}
		return bytes.Replace(source, []byte(old), []byte(changed), 1)
	})
	if err != nil {
		return err
	}
	_, err = check(a.generated, kinds, func(_ string, source []byte) []byte { return source })
	return err
}

// check type-checks a package of which edit changes the files. It imports one package as given, the others as they were compiled.
func check(p *packages.Package, imported *types.Package, edit func(name string, source []byte) []byte) (*types.Package, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.CompiledGoFiles {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, edit(name, source), parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: importer(func(path string) (*types.Package, error) {
		switch {
		case path == "unsafe":
			return types.Unsafe, nil
		case imported != nil && path == imported.Path():
			return imported, nil
		}
		return p.Imports[path].Types, nil
	})}
	return config.Check(p.PkgPath, fset, files, nil)
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
