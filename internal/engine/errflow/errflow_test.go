package errflow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

const programs = `
type T struct{}
func (T) Error() string { return "" }
func write() error { return nil }
func work() error { return nil }
var sentinel error = T{}
func wrap(err error) error { if err == nil { return nil }; return T{} }
func forget(err error) error { return nil }

func returned() error { return write() }
func ignored() error { write(); return nil }
func checked() error { if err := write(); err != nil { return err }; return nil }
func inverted() error { err := write(); if err == nil { return nil }; return err }
func overwritten() error { err := write(); err = nil; return err }
func otherKnown() error { if err := work(); err != nil { if werr := write(); werr != nil { }; return err }; return nil }
func otherWrapped() error { if err := work(); err != nil { _ = write(); return wrap(err) }; return nil }
func otherForgotten() error { if err := work(); err != nil { _ = write(); return forget(err) }; return nil }
func otherUnknown() error { err := work(); _ = write(); return err }
func otherGuarded() error { err := work(); if err == nil { return nil }; _ = write(); return err }
func made() error { if write() != nil { return sentinel }; return nil }
func concrete() *T { if write() != nil { return &T{} }; return nil }
`

// The conflict of a write is dropped if some way ends without it, without another error, and without another attempt.
func TestFollow(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p\n"+programs, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	pkg, err := (&types.Config{}).Check("example.com/p", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	p := &flow.Package{Fset: fset, Files: []*ast.File{file}, Types: pkg, Info: info}
	flow.New(p)
	dropped := map[string]bool{"ignored": true, "overwritten": true, "otherForgotten": true, "otherUnknown": true}
	for _, f := range p.Funcs() {
		if f.Decl == nil || f.Decl.Recv != nil {
			continue
		}
		f.EachCall(f.Body(), func(call *ast.CallExpr) {
			if types.ExprString(call.Fun) != "write" {
				return
			}
			out := (&Follower{Queues: Queues{}, Swallowers: Swallowers{}}).Follow(f, call)
			if out.Dropped != dropped[f.Name()] {
				t.Errorf("%s: dropped is %v, expected %v", f.Name(), out.Dropped, dropped[f.Name()])
			}
			if out.Dropped && fset.Position(out.At).Line != fset.Position(call.Pos()).Line {
				t.Errorf("%s: dropped at %s, which is not in the function", f.Name(), fset.Position(out.At))
			}
		})
	}
}
