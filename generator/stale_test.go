package generator

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// TestSharedFields judges methods for deep copies, as controller-gen writes them and as people do.
func TestSharedFields(t *testing.T) {
	const declarations = `package p

import "time"

type Inner struct{ Names []string }

func (i *Inner) DeepCopyInto(out *Inner) {}

type Embedded struct{ Promoted []string }

type T struct {
	Embedded
	Text    string
	When    time.Time
	Names   []string
	Inner   Inner
	Pointer *int
	Any     any
	Array   [2][]string
	hidden  map[string]string
}

func helper(in, out *T) {}
`
	const all = "in.Names; _ = in.Embedded; _ = in.Inner; _ = in.Pointer; _ = in.Any; _ = in.Array; _ = in.hidden"
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"everything", "*out = *in; _ = " + all, nil},
		{"one is forgotten", "*out = *in; _ = in.Embedded; _ = in.Inner; _ = in.Pointer; _ = in.Any; _ = in.Array; _ = in.hidden", []string{"Names"}},
		{"nothing but the assignment", "*out = *in", []string{"Any", "Array", "Embedded", "Inner", "Names", "Pointer", "hidden"}},
		{"promoted", "*out = *in; _ = in.Promoted; _ = in.Names; _ = in.Inner; _ = in.Pointer; _ = in.Any; _ = in.Array; _ = in.hidden", nil},
		{"in a block with names of its own", "*out = *in; if in.Names != nil { in, out := &in.Names, &out.Names; *out = append(*out, *in...) }; _ = in.Embedded; _ = in.Inner; _ = in.Pointer; _ = in.Any; _ = in.Array; _ = in.hidden", nil},
		{"one is forgotten beside such a block", "*out = *in; { in, out := &in.Names, &out.Names; *out = append(*out, *in...) }; _ = in.Embedded; _ = in.Inner; _ = in.Any; _ = in.Array; _ = in.hidden", []string{"Pointer"}},
		{"no assignment of the whole", "out.Text = in.Text; _ = " + all, []string{"When"}},
		{"handed to a function", "helper(in, out)", nil},
		{"handed to a method", "in.other(out)", nil},
		{"handed on as a value", "x := *in; _ = x", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := declarations + "\nfunc (in *T) other(out *T) {}\n\nfunc (in *T) DeepCopyInto(out *T) { " + tt.body + " }\n"
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "p.go", source, 0)
			if err != nil {
				t.Fatal(err)
			}
			conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
			pkg, err := conf.Check("p", fset, []*ast.File{file}, nil)
			if err != nil {
				t.Fatal(err)
			}
			decl := file.Decls[len(file.Decls)-1].(*ast.FuncDecl)
			structure := pkg.Scope().Lookup("T").Type().Underlying().(*types.Struct)
			if got := shared(decl, structure); !slices.Equal(got, tt.want) {
				t.Errorf("shared fields %v: want %v", got, tt.want)
			}
		})
	}
}
