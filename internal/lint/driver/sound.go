package driver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"

	"golang.org/x/tools/go/packages"
)

// maxFromSource is how many dependencies without export data are loaded from their source. A dependency that cannot be
// compiled, because a module is missing, takes all that import it along; beyond this many, that costs minutes and
// gigabytes, and the packages that lead there are named instead.
const maxFromSource = 40

// unsound are the patterns' packages whose dependencies cannot be compiled, with the reason, where there are so many of
// those that they must be left out; and the packages that remain.
type unsound struct {
	problems []Problem
	sound    []string
}

// broken reports whether any package of the import graph has an error. It reads the graph without compiling anything, and
// prints only what is wrong, so that it takes a fraction of a load.
func (l Load) broken(ctx context.Context) bool {
	args := []string{"list", "-e", "-deps", "-f", "{{with .Error}}broken{{end}}"}
	if l.Tags != "" {
		args = append(args, "-tags="+l.Tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(append(args, "--"), l.Patterns...)...)
	cmd.Dir, cmd.Env = l.Dir, l.Env
	out, err := cmd.Output()
	return err != nil || bytes.Contains(out, []byte("broken"))
}

// preflight looks at the import graph of code in which something is broken. It returns nil if everything can be loaded.
func (l Load) preflight(ctx context.Context) *unsound {
	if !l.broken(ctx) {
		return nil
	}
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps, Context: ctx, Dir: l.Dir, Tests: l.Tests, Env: l.Env}
	if l.Tags != "" {
		cfg.BuildFlags = []string{"-tags=" + l.Tags}
	}
	roots, err := packages.Load(cfg, l.Patterns...)
	if err != nil {
		return nil // the load itself says it better
	}
	return unsoundAmong(roots)
}

// unsoundAmong judges the import graph of the roots.
func unsoundAmong(roots []*packages.Package) *unsound {
	g := &graph{roots: map[*packages.Package]bool{}, cause: map[*packages.Package]*packages.Package{}}
	for _, p := range roots {
		g.roots[p] = true
	}
	packages.Visit(roots, nil, g.judge)
	if g.fromSource <= maxFromSource {
		return nil
	}
	u := &unsound{}
	for _, p := range roots {
		if bad := g.through(p); bad != nil {
			u.problems = append(u.problems, Problem{Package: p.PkgPath, LeftOut: true, Errors: []string{
				fmt.Sprintf("it depends on %s, which cannot be loaded: %s", bad.PkgPath, bad.Errors[0].Msg)}})
		} else if !slices.Contains(u.sound, p.PkgPath) {
			u.sound = append(u.sound, p.PkgPath)
		}
	}
	return u
}

// graph knows for each package the package with errors that it depends on.
type graph struct {
	roots      map[*packages.Package]bool
	cause      map[*packages.Package]*packages.Package
	fromSource int
}

// judge is called for imports before their importers.
func (g *graph) judge(p *packages.Package) {
	if len(p.Errors) > 0 {
		g.cause[p] = p
	} else {
		g.cause[p] = g.importsBad(p)
	}
	if g.cause[p] != nil && !g.roots[p] {
		g.fromSource++
	}
}

func (g *graph) importsBad(p *packages.Package) *packages.Package {
	for _, imp := range p.Imports {
		if bad := g.cause[imp]; bad != nil {
			return bad
		}
	}
	return nil
}

// through is the package with errors that a root depends on by way of others. A root that imports one itself is loaded: only
// that import is missing.
func (g *graph) through(root *packages.Package) *packages.Package {
	for _, imp := range root.Imports {
		if bad := g.cause[imp]; bad != nil && bad != imp && !g.roots[imp] {
			return bad
		}
	}
	return nil
}
