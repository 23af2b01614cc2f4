package generator

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// runtimeStub declares what the comparisons in generated code call. TestRuntimeStub compares it with package patcher.
//
//go:embed runtime.go.txt
var runtimeStub string

// errElsewhere makes go/types take an imported package as it is, and accept any other name in it.
var errElsewhere = errors.New("accepted by name")

// compiles type-checks a generated file before it is written, against the types that it was generated from.
//
// Loading controller-runtime and the runtime for this would cost more than everything else that the generator does, and they
// may not be required yet. What the templates use of them is the same in every file, and the checked-in outputs compile it. So
// the check accepts every name of those packages, and looks at what depends on the API: its types, their fields, their shapes,
// the identifiers of the package and its imports.
func (g *generation) compiles(c *collector, t *target, content []byte) bool {
	file, err := parser.ParseFile(g.fset, OutputName, content, parser.SkipObjectResolution)
	if err != nil {
		g.doesNotCompile(t, t.kinds[0], err.Error())
		return false
	}
	for _, k := range t.kinds {
		promiseDeepCopy(k.obj)
		promiseDeepCopy(k.status)
	}
	failed := map[*types.TypeName]bool{}
	conf := &types.Config{
		Importer: &loaded{collector: c, fset: g.fset},
		Error: func(err error) {
			e := err.(types.Error)
			k := t.kindAt(file, e.Pos)
			if strings.Contains(e.Msg, errElsewhere.Error()) || strings.HasPrefix(e.Msg, "\t") || failed[k.obj] {
				return // expected, the continuation of another error, or one more of the same kind
			}
			failed[k.obj] = true
			g.doesNotCompile(t, k, fmt.Sprintf("line %d: %s", g.fset.Position(e.Pos).Line, e.Msg))
		},
	}
	pkg := types.NewPackage(t.importPath, t.name)
	if t.same {
		pkg = t.kinds[0].obj.Pkg()
	}
	_ = types.NewChecker(conf, g.fset, pkg, nil).Files([]*ast.File{file}) // Error has them all
	return len(failed) == 0
}

func (g *generation) doesNotCompile(t *target, k kind, reason string) {
	g.faults.at(g.fset.Position(k.obj.Pos()), "the code generated for %s in package %s would not compile (%s), so no file was written: this is a bug in statuspatcher-gen, please report it with the declaration of %s; until it is fixed, generate without this kind", k.obj.Name(), t.importPath, reason, k.obj.Name())
}

// kindAt returns the kind that the declaration at a place is for.
func (t *target) kindAt(file *ast.File, pos token.Pos) kind {
	for _, d := range file.Decls {
		if pos < d.Pos() || pos > d.End() {
			continue
		}
		names := map[string]bool{}
		ast.Inspect(d, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok {
				names[ident.Name] = true
			}
			return true
		})
		for _, k := range t.kinds {
			if names[k.obj.Name()] || names[k.status.Name()] {
				return k
			}
		}
	}
	return t.kinds[0]
}

// promiseDeepCopy gives a type the method that controller-gen has written for it, or will write: no function was loaded.
func promiseDeepCopy(obj *types.TypeName) {
	named, ok := obj.Type().(*types.Named)
	if !ok {
		return
	}
	pointer := types.NewPointer(named)
	in, out := types.NewVar(token.NoPos, obj.Pkg(), "in", pointer), types.NewVar(token.NoPos, obj.Pkg(), "out", pointer)
	signature := types.NewSignatureType(in, nil, nil, types.NewTuple(out), nil, false)
	named.AddMethod(types.NewFunc(token.NoPos, obj.Pkg(), "DeepCopyInto", signature))
}

// loaded is the importer of generated files: it has the packages that the types were read from.
type loaded struct {
	collector *collector
	fset      *token.FileSet
	runtime   *types.Package
}

// Import returns errElsewhere for packages of which not everything is known.
func (l *loaded) Import(path string) (*types.Package, error) {
	if path == patcherPath && l.runtime == nil {
		l.runtime = l.stub()
	}
	if path == patcherPath {
		return l.runtime, errElsewhere
	}
	if s := l.collector.prune.byPath(path); s != nil && s.pkg.Types != nil {
		return s.pkg.Types, nil
	}
	if fixedImports[path] != "" {
		return nil, errElsewhere
	}
	return nil, fmt.Errorf("no type of %s was loaded", path)
}

// stub is package patcher as far as runtimeStub declares it. What metav1 lacks, no status has.
func (l *loaded) stub() *types.Package {
	file, err := parser.ParseFile(l.fset, "runtime.go.txt", runtimeStub, parser.SkipObjectResolution)
	if err != nil {
		panic(err) // a file of this package that is wrong
	}
	conf := &types.Config{Importer: l, Error: func(error) {}}
	pkg, _ := conf.Check(patcherPath, l.fset, []*ast.File{file}, nil)
	return pkg
}
