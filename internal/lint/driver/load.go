// Package driver loads packages and runs the lint rule over a whole module, which a vet tool cannot.
package driver

import (
	"fmt"
	"go/token"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// Load says what to load.
type Load struct {
	Dir      string
	Patterns []string
	Tags     string
	Tests    bool
	Env      []string
	Overlay  map[string][]byte
}

// Module is what was loaded.
type Module struct {
	Dir      string // the directory that was loaded
	Root     string // directory of the main module; the working directory without one
	Fset     *token.FileSet
	Packages []*packages.Package
	Program  *flow.Program
	Flow     map[*packages.Package]*flow.Package
	Problems []Problem
}

// A Problem is why a package was not analysed, or only in part.
type Problem struct {
	Package string
	Errors  []string
}

// mode asks for syntax of the packages themselves only; what they import comes from export data.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
	packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule | packages.NeedTypesSizes

// Run loads packages; an error means that nothing could be loaded.
func (l Load) Run() (*Module, error) {
	cfg := &packages.Config{Mode: mode, Dir: l.Dir, Tests: l.Tests, Fset: token.NewFileSet(), Env: l.Env}
	if l.Tags != "" {
		cfg.BuildFlags = []string{"-tags=" + l.Tags}
	}
	remove, err := l.overlay(cfg)
	if err != nil {
		return nil, err
	}
	defer remove()
	pkgs, err := packages.Load(cfg, l.Patterns...)
	if err != nil {
		return nil, err
	}
	m := &Module{Fset: cfg.Fset, Dir: l.Dir, Root: l.Dir, Flow: map[*packages.Package]*flow.Package{}}
	var flows []*flow.Package
	for _, p := range pkgs {
		if strings.HasSuffix(p.PkgPath, ".test") && p.Name == "main" {
			continue // the generated main of a test binary
		}
		m.addProblems(p)
		if p.Module != nil && p.Module.Main {
			m.Root = p.Module.Dir
		}
		if p.Types == nil || len(p.Syntax) == 0 {
			continue
		}
		fp := &flow.Package{Fset: cfg.Fset, Files: p.Syntax, Types: p.Types, Info: p.TypesInfo, TypeErrors: p.TypeErrors}
		if !l.Tests {
			fp.Skip = site.TestCode(fp)
		}
		m.Packages = append(m.Packages, p)
		m.Flow[p] = fp
		flows = append(flows, fp)
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(l.Patterns, " "))
	}
	m.Program = flow.New(flows...)
	return m, nil
}

func (m *Module) addProblems(p *packages.Package) {
	if len(p.Errors) == 0 {
		return
	}
	prob := Problem{Package: p.PkgPath}
	for _, e := range p.Errors {
		prob.Errors = append(prob.Errors, e.Error())
	}
	m.Problems = append(m.Problems, prob)
}
