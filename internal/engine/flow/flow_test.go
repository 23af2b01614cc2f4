package flow

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// check type-checks a package of one file without imports.
func check(t *testing.T, src string) *Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p\n"+src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: importer.Default()}
	pkg, err := conf.Check("example.com/p", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	p := &Package{Fset: fset, Files: []*ast.File{file}, Types: pkg, Info: info}
	New(p)
	return p
}

// function is the declaration of that name.
func function(t *testing.T, p *Package, name string) *Func {
	t.Helper()
	for _, f := range p.Funcs() {
		if f.Decl != nil && f.Decl.Name.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// calls are the calls in a declaration of what is written as text.
func calls(f *Func, text string) []*ast.CallExpr {
	var out []*ast.CallExpr
	ast.Inspect(f.Node(), func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && types.ExprString(c.Fun) == text {
			out = append(out, c)
		}
		return true
	})
	return out
}

const functionValues = `
func a() {}
func b() {}
func unknown() func() { return nil }
type steps struct { first func() }
type Open struct { First func() }

func literal() { f := a; f() }
func either(x bool) { f := a; if x { f = b }; f() }
func parameter(f func()) { f() }
func calls() { parameter(a); parameter(b) }
func Exported(f func()) { f() }
func callsExported() { Exported(a) }
func field() { s := steps{}; s.first = a; s.first() }
func list() { for _, f := range []func(){a, b} { f() } }
func made() { f := unknown(); f() }
func changed(fs []func()) { fs[0]() }
`

// A function value is all that it can be, and known only if nothing else can set it.
func TestFuncValues(t *testing.T) {
	p := check(t, functionValues)
	for _, row := range []struct {
		in, call string
		want     string
		all      bool
	}{
		{"literal", "f", "a", true},
		{"either", "f", "a b", true},
		{"parameter", "f", "a b", true},
		{"Exported", "f", "a", false},
		{"field", "s.first", "a", true},
		{"list", "f", "a b", true},
		{"made", "f", "", true}, // its only return is nil
		{"changed", "fs[0]", "", false},
	} {
		f := function(t, p, row.in)
		found := calls(f, row.call)
		if len(found) == 0 {
			t.Fatalf("%s has no call %s", row.in, row.call)
		}
		fns, all := f.FuncValues(found[0].Fun)
		var names []string
		for _, fn := range fns {
			names = append(names, fn.Name())
		}
		slices.Sort(names)
		if got := strings.Join(slices.Compact(names), " "); got != row.want || all != row.all {
			t.Errorf("%s in %s is %q, all %v; expected %q, %v", row.call, row.in, got, all, row.want, row.all)
		}
	}
}

const closures = `
func keep(func()) {}
func called() { f := func() {}; f(); f() }
func deferred() { f := func() {}; defer f() }
func handedOn() { f := func() {}; f(); keep(f) }
func nested() { f := func() {}; func() { f() }() }
func reassigned() { f := func() {}; f(); f = nil }
`

// The places where a closure runs are known only if it is called and nothing else.
func TestCalledAt(t *testing.T) {
	p := check(t, closures)
	for name, want := range map[string]int{"called": 2, "deferred": 0, "handedOn": 0, "nested": 0, "reassigned": 0} {
		f := function(t, p, name)
		var lit *Func
		f.EachLit(f.Body(), func(l *Func) {
			if lit == nil {
				lit = l
			}
		})
		if got := len(lit.CalledAt()); got != want {
			t.Errorf("%s: the closure runs at %d known places, expected %d", name, got, want)
		}
	}
}

const paths = `
type T struct { S struct { X int } }
func use(any) {}
func f(t *T, other *T) {
	alias := t
	use(alias.S.X)
	use(t.S.X)
	use(other.S.X)
	copied := *t
	use(copied.S.X)
}
`

// Two names of one object have one path; a copy has another.
func TestPath(t *testing.T) {
	f := function(t, check(t, paths), "f")
	var got []string
	for _, c := range calls(f, "use") {
		got = append(got, f.Path(c.Args[0]))
	}
	if got[0] != got[1] || got[1] == got[2] || got[3] == got[1] || got[0] == "" {
		t.Errorf("the paths are %q: the first two must be one, the others different", got)
	}
}

const ways = `
func g() int { return 0 }
func f(x bool) int {
	v := 1
	if x { v = 2 } else { v = g() }
	use(v)
	return v
}
func use(int) {}
`

// The values that reach a use are those of all ways to it.
func TestReachingDefs(t *testing.T) {
	p := check(t, ways)
	f := function(t, p, "f")
	use := calls(f, "use")[0]
	defs, entry := f.ReachingDefs(p.Var(use.Args[0]), f.At(use))
	var got []string
	for _, d := range defs {
		got = append(got, types.ExprString(d.Rhs))
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "2 g()" || entry {
		t.Errorf("%q reach the use, from the entry %v; expected 2 and g()", got, entry)
	}
}
