package generator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestWithoutFunctions: the types of a file are the same, at the same places, whatever its functions look like.
func TestWithoutFunctions(t *testing.T) {
	for name, tt := range map[string]struct {
		source string
		cut    bool
	}{
		"plain":                             {"type A struct{}\n\nfunc f() {\n\tg()\n}\n\ntype B struct{ A }\n", true},
		"method":                            {"type A struct{}\n\nfunc (a *A) f() (x int) {\n\treturn 1\n}\n\ntype B struct{}\n", true},
		"one line":                          {"func f() {}\n\ntype A struct {\n\tX int\n}\n", true},
		"one line and a comment":            {"func f() {} // nothing\n\ntype A struct {\n\tX int\n}\n", false},
		"signature of several lines":        {"func f(\n\ta int,\n) error {\n\treturn nil\n}\n\ntype A struct{}\n", true},
		"no body":                           {"func f(x int) int\n\ntype A struct {\n\tX int\n}\n", false},
		"no body, at the end":               {"type A struct {\n\tX int\n}\n\nfunc f(x int) int\n", false},
		"type in a function":                {"func f() {\n\ttype A struct{}\n}\n\ntype B struct{}\n", true},
		"string with a brace":               {"func f() string {\n\treturn `\n}\n\ntype A struct{}\n`\n}\n\ntype B struct{}\n", true},
		"string that is not indented":       {"func f() string {\n\treturn `\na\n}`\n}\n\ntype B struct{}\n", false},
		"string that looks like a function": {"const s = `\nfunc f() {\n\tg()\n}\n`\n\ntype A struct{}\n", true},
		"string that ends in a function":    {"const s = `\nfunc f() {\n\tg`\n\ntype A struct {\n\tX int\n}\n", false},
		"comment that ends in a function":   {"/*\nfunc f() {\n\tg\n*/\n\ntype A struct {\n\tX int\n}\n", false},
		"label":                             {"func f() {\nloop:\n\tfor {\n\t\tbreak loop\n\t}\n}\n\ntype A struct{}\n", false},
		"function value":                    {"var f = func() {\n\tg()\n}\n\ntype A struct{}\n", true},
		"function type":                     {"type F func(\n\ta int,\n) error\n\ntype A struct{}\n", true},
		"ends of lines of Windows":          {"func f() {\r\n\tg()\r\n}\r\n\r\ntype A struct{}\r\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			sameTypes(t, name, "package p\n\n"+tt.source)
			if _, cut := withoutFunctions([]byte("package p\n\n" + tt.source)); cut != tt.cut {
				t.Errorf("cut: %t, want %t", cut, tt.cut)
			}
		})
	}
}

// TestWithoutFunctionsOfLibraries compares with what the parser finds in the files of some large packages.
func TestWithoutFunctionsOfLibraries(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedFiles}, "go/types", "net/http", "text/template/parse", "runtime", "math", "sigs.k8s.io/controller-tools/pkg/crd", "golang.org/x/tools/go/packages")
	if err != nil {
		t.Fatal(err)
	}
	files, cut := 0, 0
	for _, pkg := range pkgs {
		for _, name := range pkg.GoFiles {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sameTypes(t, filepath.Base(name), string(content))
			files++
			if _, ok := withoutFunctions(content); ok {
				cut++
			}
		}
	}
	if files < 100 || cut < files/2 {
		t.Errorf("%d files, of which %d have no functions then: want most", files, cut)
	}
}

// TestDeclares compares with a regular expression.
func TestDeclares(t *testing.T) {
	slow := regexp.MustCompile(`(?m)^\s*(type|const)\b`)
	for _, source := range []string{
		"", "type", "type A int", "package p\n\ntype A int\n", "package p\ntypeA int", "package p\n\t const x = 1\n", "x type A int\n", "// type A int\n",
		"package p\r\n\r\ntype A int\r\n", "package p\ntype\tA int\n", "package p\ntype(\n)\n", "package p\nconstant\n", "mytype\ntype_ \ntypes\n  type\n", "func f() { type x }\n",
	} {
		if got, want := declares([]byte(source)), slow.MatchString(source); got != want {
			t.Errorf("%q: %t, want %t", source, got, want)
		}
	}
}

func sameTypes(t *testing.T, name, source string) {
	t.Helper()
	const mode = parser.SkipObjectResolution | parser.AllErrors
	want, errWhole := parser.ParseFile(token.NewFileSet(), name, source, mode)
	got, err := parse(token.NewFileSet(), name, []byte(source), mode)
	if err != nil || errWhole != nil {
		t.Fatalf("%s: %v, %v", name, err, errWhole)
	}
	if found, all := typesIn(got), typesIn(want); !maps.Equal(found, all) {
		t.Errorf("%s: %v, want %v", name, slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(all)))
	}
	if len(got.Decls) > len(want.Decls) {
		t.Errorf("%s: there are more declarations than before", name)
	}
}

// typesIn are the types that a file declares, with their places and the fields of structs.
func typesIn(file *ast.File) map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.TypeSpec)
			text := []string{spec.Name.Name}
			ast.Inspect(spec.Type, func(n ast.Node) bool {
				if ident, ok := n.(*ast.Ident); ok {
					text = append(text, ident.Name)
				}
				return true
			})
			out[strings.Join(text, " ")] = spec.Pos() - file.FileStart
		}
	}
	return out
}
