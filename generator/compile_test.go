package generator

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/statuspatcher/statuspatcher/templates"
)

// TestOutputIsTypeChecked breaks the templates: what they would write is an error that names the kind and the reason, for every
// package that it happens in, and nothing is planned to be written.
func TestOutputIsTypeChecked(t *testing.T) {
	for _, tt := range []struct{ name, template, old, new, want string }{
		{"control: nothing is broken", "equal.go.tmpl", "reports", "reports", ""},
		{"a field that is not there", "equal.go.tmpl", "return {{range", "return a.Missing == 0 && {{range", "a.Missing undefined"},
		{"another shape", "equal.go.tmpl", "{{.Shape}} = struct {", "{{.Shape}} = struct {\n\t\tExtra int", "cannot use v1."},
		{"an operator that the type does not have", "equal.go.tmpl", "{{$term}}", "{{$term}} && a == *b", "mismatched types"},
		{"an argument of the wrong type", "trim.go.tmpl", "{{.Equal}})", "1)", "cannot use 1"},
		{"a name that is declared twice", "client.go.tmpl", "type {{.Prefix}}StatusClient", "type {{.Prefix}}StatusPatcher struct{}\n\ntype {{.Prefix}}StatusClient", "redeclared"},
		{"an import from nowhere", "file.go.tmpl", "\n)\n", "\n\t\"os\"\n)\n", `no type of os was loaded`},
		{"a method that is not there", "kind.go.tmpl", "DeepCopyInto: (*{{.Status}}).DeepCopyInto", "DeepCopyInto: (*{{.Status}}).DeepCopyTo", "DeepCopyTo undefined"},
		{"no Go", "trim.go.tmpl", "func ", "func func ", "expected 'IDENT'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := newGeneration(Options{Dir: copyOfModule(t, "internal/outputs/versions"), Paths: []string{"./a/v1", "./b/v1"}})
			if err != nil {
				t.Fatal(err)
			}
			g.templates = broken(t, tt.template, tt.old, tt.new)
			_, err = g.plan()
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error: the output would not compile")
			}
			for _, want := range []string{"a/v1/types.go:", "b/v1/types.go:", tt.want, "no file was written"} {
				if !strings.Contains(err.Error(), filepath.FromSlash(want)) {
					t.Errorf("the error has no %q:\n%v", want, err)
				}
			}
		})
	}
}

// broken returns the templates with one text replaced.
func broken(t *testing.T, name, old, new string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	names, err := fs.Glob(templates.FS, "*.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		content, err := fs.ReadFile(templates.FS, n)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if n == name {
			if !strings.Contains(text, old) {
				t.Fatalf("%s has no %q", name, old)
			}
			text = strings.Replace(text, old, new, 1)
		}
		out[n] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// TestRuntimeStub: what the check of the output takes for the runtime's functions is what package patcher declares.
func TestRuntimeStub(t *testing.T) {
	want := map[string]string{}
	names, err := filepath.Glob("../patcher/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("no source of the runtime: %v", err)
	}
	for _, name := range names {
		signatures(t, name, nil, want)
	}
	declared := map[string]string{}
	signatures(t, "runtime.go.txt", runtimeStub, declared)
	if len(declared) < 10 {
		t.Fatalf("found %d functions: the test looks in the wrong place", len(declared))
	}
	for name, signature := range declared {
		if want[name] != signature {
			t.Errorf("runtime.go.txt declares\n%s\nand package patcher\n%s", signature, want[name])
		}
	}
}

// signatures adds the functions that a file declares, without their bodies.
func signatures(t *testing.T, name string, content any, into map[string]string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			continue
		}
		f.Body, f.Doc = nil, nil
		var text strings.Builder
		if err := format.Node(&text, fset, f); err != nil {
			t.Fatal(err)
		}
		into[f.Name.Name] = text.String()
	}
}
