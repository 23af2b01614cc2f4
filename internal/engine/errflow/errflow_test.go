package errflow

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

const programs = `
type T struct{}
func (T) Error() string { return "" }
func write() error { return nil }
var works bool
func work() error { if works { return nil }; return sentinel }
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
func flagged() error { bad := false; if write() != nil { bad = true }; if bad { return sentinel }; return nil }
func flaggedWrong() error { bad := true; if write() != nil { bad = false }; if bad { return sentinel }; return nil }
func listed() error { var errs []error; if err := write(); err != nil { errs = append(errs, err) }; if len(errs) > 0 { return errs[0] }; return nil }
func listForgotten() error { var errs []error; if err := write(); err != nil { errs = append(errs, err) }; if len(errs) > 0 { return nil }; return nil }
type pair struct { n int; err error }
func packed() error { p := pair{err: write()}; return p.err }
func packedForgotten() error { p := pair{1, write()}; if p.n > 1 { return nil }; return nil }
func boxed() error { err := write(); set := func() { err = nil }; set(); return err }
func same() *pair { t := &pair{}; if write() != nil { return t }; return t }
func told() bool { ok := true; if write() != nil { ok = false }; return ok }
func named() (err error) { defer func() { works = err == nil }(); err = write(); return }
func recursive(n int) error { if err := write(); err != nil { return sentinel }; return recursive(n - 1) }
func panics() error { if err := write(); err != nil { panic(err) }; return nil }
func looped() error { for { if write() == nil { return nil } } }
func handed(ch chan error) error { ch <- write(); return nil }
func global() error { last = write(); return nil }
var last error
func ranged() error { for range each { if write() != nil { return nil } }; return nil }
func each(yield func() bool) { for yield() {} }
func counted() error { for i := 0; i != 3; i++ { if write() == nil { return nil } }; return sentinel }
func generic[E error]() error { _ = write(); return nil }
func broken() error { undefined(); _ = write(); return nil }
`

func check(t *testing.T, src string) *flow.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p\n"+src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	p := &flow.Package{Fset: fset, Files: []*ast.File{file}, Info: info}
	conf := types.Config{Error: func(err error) { p.TypeErrors = append(p.TypeErrors, err.(types.Error)) }}
	p.Types, _ = conf.Check("example.com/p", fset, []*ast.File{file}, info)
	flow.New(p)
	return p
}

// eachWrite visits the calls of write, with the name of the function that each stands in.
func eachWrite(p *flow.Package, visit func(f *flow.Func, call *ast.CallExpr)) {
	for _, f := range p.Funcs() {
		if f.Decl == nil || f.Decl.Recv != nil {
			continue
		}
		f.EachCall(f.Body(), func(call *ast.CallExpr) {
			if types.ExprString(call.Fun) == "write" {
				visit(f, call)
			}
		})
	}
}

// The conflict of a write is dropped if some way ends without it, without another error, and without another attempt. In
// code that does not type-check nothing is said.
func TestFollow(t *testing.T) {
	p := check(t, programs)
	if len(p.TypeErrors) != 1 {
		t.Fatalf("type errors %v, expected that of broken", p.TypeErrors)
	}
	follower := New()
	dropped := map[string]bool{"ignored": true, "overwritten": true, "otherForgotten": true, "otherUnknown": true, "flaggedWrong": true,
		"listForgotten": true, "packedForgotten": true, "same": true, "generic": true}
	eachWrite(p, func(f *flow.Func, call *ast.CallExpr) {
		out := follower.Follow(f, call)
		if out.Dropped != dropped[f.Name()] {
			t.Errorf("%s: dropped is %v, expected %v", f.Name(), out.Dropped, dropped[f.Name()])
		}
		if line := p.Fset.Position(out.At).Line; out.Dropped && line != p.Fset.Position(call.Pos()).Line {
			t.Errorf("%s: dropped in line %d, which is not in the function", f.Name(), line)
		}
	})
}

// Where there are too many ways to a write, the conditions around it still count, and the ways behind it are walked.
func TestTooManyWays(t *testing.T) {
	src := strings.Builder{}
	src.WriteString("type T struct{}\nfunc (T) Error() string { return \"\" }\nvar sentinel error = T{}\nvar on []bool\nfunc write() error { return nil }\nfunc work() error { if on[0] { return nil }; return sentinel }\n")
	for _, end := range []struct{ name, text string }{{"guarded", "if err != nil { _ = write(); return err }"}, {"open", "_ = write(); if err != nil { return nil }"}} {
		fmt.Fprintf(&src, "func %s() error {\n\terr := work()\n", end.name)
		for i := range 14 {
			fmt.Fprintf(&src, "\tvar e%d error\n\tif on[%d] { e%d = sentinel }\n", i, i, i)
		}
		src.WriteString("\t" + end.text + "\n")
		for i := range 14 {
			fmt.Fprintf(&src, "\tif e%d != nil { return e%d }\n", i, i)
		}
		src.WriteString("\treturn nil\n}\n")
	}
	follower := New()
	eachWrite(check(t, src.String()), func(f *flow.Func, call *ast.CallExpr) {
		if out := follower.Follow(f, call); out.Dropped != (f.Name() == "open") {
			t.Errorf("%s: dropped is %v", f.Name(), out.Dropped)
		}
	})
}
