package check_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
)

// corpus is the source of the fixtures, taken apart.
type corpus struct {
	sources  []source
	imported map[string]*types.Package
}

// source is a fixture file with the places of its function bodies and of the statements in them.
type source struct {
	name   string
	text   string
	bodies []span
	stmts  []span
}

type span struct{ from, to int }

func (s source) cut(at span) string { return s.text[at.from:at.to] }

// Import is types.Importer's: what the fixtures import, and nothing for the rest, as if a module were missing.
func (c *corpus) Import(path string) (*types.Package, error) {
	if p := c.imported[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not loaded", path)
}

func readCorpus(t testing.TB) *corpus {
	t.Helper()
	c := &corpus{imported: map[string]*types.Package{}}
	for _, module := range []string{"cells", "fixes"} {
		dir, err := filepath.Abs(filepath.Join("../../../lint/testdata", module))
		if err != nil {
			t.Fatal(err)
		}
		m, err := driver.Load{Dir: dir, Patterns: []string{"./..."}, Env: append(os.Environ(), "GOWORK=off")}.Run()
		if err != nil {
			t.Fatal(err)
		}
		packages.Visit(m.Packages, nil, func(p *packages.Package) {
			if p.Types != nil {
				c.add(p.Types)
			}
		})
		for _, p := range m.Packages {
			for _, name := range p.GoFiles {
				c.take(t, name)
			}
		}
	}
	return c
}

func (c *corpus) add(p *types.Package) {
	if c.imported[p.Path()] != nil {
		return
	}
	c.imported[p.Path()] = p
	for _, imp := range p.Imports() {
		c.add(imp)
	}
}

func (c *corpus) take(t testing.TB, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := source{name: name, text: string(text)}
	place := func(n ast.Node) span { return span{fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset} }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			s.bodies = append(s.bodies, place(n))
		case ast.Stmt:
			s.stmts = append(s.stmts, place(n))
		}
		return true
	})
	if len(s.stmts) > 3 {
		c.sources = append(c.sources, s)
	}
}

// recombine is one of the sources with pieces of itself and of others in place of its own.
func (c *corpus) recombine(r *rand.Rand) string {
	s := c.sources[r.IntN(len(c.sources))]
	text := s.text
	for range 1 + r.IntN(4) {
		from := s
		if r.IntN(3) == 0 {
			from = c.sources[r.IntN(len(c.sources))]
		}
		at := s.stmts[r.IntN(len(s.stmts))]
		piece := from.cut(from.stmts[r.IntN(len(from.stmts))])
		old := s.cut(at)
		switch r.IntN(6) {
		case 0:
			piece = "" // a statement is gone
		case 1:
			piece = old + "\n" + piece
		case 2:
			piece = "func() error " + from.cut(from.bodies[r.IntN(len(from.bodies))]) + "()"
		case 3:
			piece = "defer func() " + s.cut(s.bodies[r.IntN(len(s.bodies))]) + "()"
		case 4:
			piece = "go func() { " + old + " }()"
		}
		text = strings.Replace(text, old, piece, 1)
	}
	if r.IntN(4) == 0 {
		// A body at package level, in a composite literal.
		body := s.cut(s.bodies[r.IntN(len(s.bodies))])
		text += "\nvar _ = struct{ run func(ctx context.Context, r *Reconciler, cell *v1.Cell, key client.ObjectKey) error }{run: func(ctx context.Context, r *Reconciler, cell *v1.Cell, key client.ObjectKey) error " + body + "}\n"
	}
	return text
}

// run analyzes a source, whatever is wrong with it, and reports a panic.
func (c *corpus) run(text string, look func(*class.Finding)) (panicked error) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
	}()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "fuzzed.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil // not Go
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		Instances: map[*ast.Ident]types.Instance{}}
	conf := types.Config{Importer: c, Error: func(error) {}}
	pkg, _ := conf.Check("example.com/fuzzed", fset, []*ast.File{file}, info)
	fp := &flow.Package{Fset: fset, Files: []*ast.File{file}, Types: pkg, Info: info}
	for _, opts := range []check.Options{{Ban: true, Tests: true}, {}} {
		found, _ := check.NewCheck(flow.New(fp), opts).Findings(fp)
		for _, f := range found {
			check.Diagnostic(f)
			look(f)
		}
	}
	return nil
}

const fuzzed = 1500

// No analysis and no fix panics, whatever the code looks like.
func TestFuzzedFixtures(t *testing.T) {
	c := readCorpus(t)
	seen := map[string]bool{}
	for i := range uint64(fuzzed) {
		text := c.recombine(rand.New(rand.NewPCG(1, i)))
		if err := c.run(text, func(*class.Finding) {}); err != nil && !seen[place(err)] {
			seen[place(err)] = true
			t.Errorf("source %d panics at %s: %v\n%s", i, place(err), err, text)
		}
	}
	planted := func(*class.Finding) { panic("planted") }
	if !slices.ContainsFunc(c.sources, func(s source) bool { return c.run(s.text, planted) != nil }) {
		t.Error("negative control: a panic was not reported")
	}
}

// place is where the program panicked: the first of our lines in the stack.
func place(err error) string {
	_, stack, _ := strings.Cut(err.Error(), "\npanic(")
	for line := range strings.Lines(stack) {
		if strings.Contains(line, "/internal/") && strings.Contains(line, ".go:") {
			return strings.Fields(line)[0]
		}
	}
	return err.Error()
}
