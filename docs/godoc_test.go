package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/hack/publish"
)

// TestExportedNamesAreDocumented: go doc has something to say of every name that others can use.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, dir := range publicPackages(t) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		names, err := undocumented(fset, parsed, !part(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			t.Errorf("%s: %s has no doc comment", dir, name)
		}
	}
}

// part tells the parts of the lint rule, whose fields speak for themselves to those who work on it.
func part(dir string) bool {
	return filepath.Base(filepath.Dir(dir)) == "lint" && filepath.Base(dir) != "gclplugin"
}

func TestUndocumented(t *testing.T) {
	const source = `package p

import "io"

// Documented is.
func Documented() {}

func Bare() {}

func unexported() {}

// T says what Named is.
type T struct {
	Named   int
	Unnamed int
	OnLine  int // is
	// Above is.
	Above int
	// Both is, and Beside.
	Both   int
	Beside int
	inner int
	io.Reader
}

func (T) Method() {}

func (T) Error() string { return "" }

// I is.
type I interface{ Call() }

// The group is.
const (
	One = 1
	Two = 2
)

const Three = 3

var (
	Four = 4 // is
	Five = 5
)
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	names, err := undocumented(fset, []*ast.File{file}, true)
	if want := []string{"package p", "Three", "Five", "Bare", "I.Call", "T.Unnamed", "T.Method"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v: want %v", names, err, want)
	}
}

// publicPackages are the directories of the packages that others can import, and are meant to.
func publicPackages(t *testing.T) (dirs []string) {
	t.Helper()
	for _, module := range publish.Dirs {
		list := exec.Command("go", "list", "-f", `{{if ne .Name "main"}}{{.Dir}}{{end}}`, "./...")
		list.Dir = filepath.Join(root, module)
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range strings.Fields(string(out)) {
			if !slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), "internal") {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) < 6 {
		t.Fatalf("found %v: the test looks in the wrong place", dirs)
	}
	return dirs
}

// undocumented returns the exported names without a comment: of their own, of their group, or in their type's if that names them.
func undocumented(fset *token.FileSet, files []*ast.File, fields bool) (names []string, err error) {
	p, err := doc.NewFromFiles(fset, files, "p")
	if err != nil {
		return nil, err
	}
	if p.Doc == "" {
		names = append(names, "package "+p.Name)
	}
	values := slices.Concat(p.Consts, p.Vars)
	funcs := p.Funcs
	var members []string
	for _, typ := range p.Types {
		values = slices.Concat(values, typ.Consts, typ.Vars)
		funcs = slices.Concat(funcs, typ.Funcs)
		if typ.Doc == "" {
			members = append(members, typ.Name)
		}
		if fields {
			members = append(members, undocumentedFields(typ)...)
		}
		for _, method := range typ.Methods {
			if method.Doc == "" && method.Name != "Error" { // which every error has
				members = append(members, typ.Name+"."+method.Name)
			}
		}
	}
	for _, value := range values {
		names = append(names, undocumentedValues(value)...)
	}
	for _, f := range funcs {
		if f.Doc == "" {
			names = append(names, f.Name)
		}
	}
	return append(names, members...), nil
}

func undocumentedValues(group *doc.Value) (names []string) {
	for _, spec := range group.Decl.Specs {
		value := spec.(*ast.ValueSpec)
		for _, name := range value.Names {
			if name.IsExported() && group.Doc == "" && value.Doc == nil && value.Comment == nil {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// undocumentedFields are those of a struct, and the methods of an interface.
func undocumentedFields(typ *doc.Type) (names []string) {
	for _, spec := range typ.Decl.Specs {
		var fields *ast.FieldList
		switch t := spec.(*ast.TypeSpec).Type.(type) {
		case *ast.StructType:
			fields = t.Fields
		case *ast.InterfaceType:
			fields = t.Methods
		default:
			continue
		}
		said := typ.Doc
		for _, field := range fields.List {
			said += field.Doc.Text()
			for _, name := range field.Names {
				if name.IsExported() && field.Doc == nil && field.Comment == nil && !strings.Contains(said, name.Name) {
					names = append(names, typ.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}
