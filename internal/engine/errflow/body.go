package errflow

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// bodies are the functions of a program in SSA form. A package is built when one of its functions is first asked for,
// without what it imports.
type bodies struct {
	packages map[*flow.Package]*built
	shapes   map[*ssa.Function]*shape
}

// newBodies has built nothing yet.
func newBodies() *bodies {
	return &bodies{packages: map[*flow.Package]*built{}, shapes: map[*ssa.Function]*shape{}}
}

// built is a package in SSA form.
type built struct {
	functions map[ast.Node]*ssa.Function
	calls     map[token.Pos]*ast.CallExpr // by their parentheses, which is where SSA places them
}

// of is the SSA form of f; nil if it has no body, or one that does not type-check.
func (b *bodies) of(f *flow.Func) *ssa.Function {
	fn := b.built(f.Pkg).functions[f.Node()]
	if fn == nil || len(fn.Blocks) == 0 {
		return nil
	}
	return fn
}

func (b *bodies) built(pkg *flow.Package) *built {
	p, ok := b.packages[pkg]
	if !ok {
		p = &built{functions: map[ast.Node]*ssa.Function{}, calls: map[token.Pos]*ast.CallExpr{}}
		b.packages[pkg] = p
		p.build(pkg)
	}
	return p
}

func (p *built) build(pkg *flow.Package) {
	// The builder expects code that type-checks, and panics on other code. What sound has overlooked costs the package,
	// not the run.
	defer func() {
		if recover() != nil {
			clear(p.functions)
		}
	}()
	prog := ssa.NewProgram(pkg.Fset, ssa.BareInits|ssa.BuildSerially)
	for _, imported := range referenced(pkg) {
		prog.CreatePackage(imported, nil, nil, true)
	}
	files, info := sound(pkg)
	prog.CreatePackage(pkg.Types, files, info, false).Build()
	for _, f := range pkg.Funcs() {
		if f.Obj != nil {
			p.add(prog.FuncValue(f.Obj))
		}
	}
	p.add(prog.Package(pkg.Types).Func("init"))
	for _, file := range pkg.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				p.calls[call.Lparen] = call
			}
			return true
		})
	}
}

// add records fn and the literals in it.
func (p *built) add(fn *ssa.Function) {
	if fn == nil {
		return
	}
	if fn.Syntax() != nil {
		p.functions[fn.Syntax()] = fn
	}
	for _, lit := range fn.AnonFuncs {
		p.add(lit)
	}
}

// referenced are the packages whose functions and variables pkg names.
func referenced(pkg *flow.Package) []*types.Package {
	var out []*types.Package
	for _, obj := range pkg.Info.Uses {
		switch obj.(type) {
		case *types.Func, *types.Var:
		default:
			continue
		}
		if p := obj.Pkg(); p != nil && p != pkg.Types && obj.Parent() == p.Scope() && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
