package migrate

import (
	"go/ast"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
)

// generated is the name of the generator's files.
const generated = "zz_generated.statuspatcher.go"

// apis are the packages of the kinds that the program writes.
type apis struct {
	module *driver.Module
	byPath map[string]*api
	// importers are, for each package, the packages that it needs, by import path: a package of kinds must not need the one
	// that is rewritten.
	needs map[string]map[string]bool
}

func newAPIs(m *driver.Module) *apis {
	return &apis{module: m, byPath: map[string]*api{}, needs: map[string]map[string]bool{}}
}

// of returns the package of a kind and of its patchers, or why there can be none for this write.
func (as *apis) of(kind *types.Named, w *write) (*api, *reason) {
	pkg := kind.Obj().Pkg()
	a := as.byPath[pkg.Path()]
	if a == nil {
		a = as.find(pkg)
		as.byPath[pkg.Path()] = a
	}
	switch {
	case a.dir == "" && !a.exists:
		return nil, because(w.Node, "generate a patcher with types="+pkg.Path()+"."+kind.Obj().Name()+" output:dir=internal/foreignstatus, and flush by hand",
			"the kind %s.%s belongs to another project", pkg.Name(), kind.Obj().Name())
	case w.pkg.Types.Path() == pkg.Path() || imported(pkg, w.pkg.Types.Path(), map[*types.Package]bool{}) != nil:
		return nil, because(w.Node, "move the write out of "+w.pkg.Types.Path(), "the patchers of %s import the package of this write: that would be an import cycle", pkg.Path())
	case !a.exists && !a.unmarkable && !a.subresources[kind.Obj().Name()]:
		return nil, because(w.Node, "add // +kubebuilder:subresource:status above the kind, and generate its CRD again", "no comment of %s declares a status subresource", kind.Obj().Name())
	case a.exists && !as.hasPatcher(a, kind.Obj().Name()):
		return nil, because(w.Node, "mark the kind with +statuspatcher:generate=true and run statuspatcher-gen", "there is no generated patcher for %s", kind.Obj().Name())
	}
	a.kinds[kind.Obj().Name()] = true
	return a, nil
}

// find locates the files of a package of kinds, and the package of its patchers.
func (as *apis) find(pkg *types.Package) *api {
	a := &api{path: pkg.Path(), name: pkg.Name(), kinds: map[string]bool{}, patchers: pkg.Path() + "/" + pkg.Name() + "status"}
	for _, p := range as.module.Packages {
		imp := p.Imports[pkg.Path()]
		if p.PkgPath == pkg.Path() {
			imp = p
		}
		if imp == nil || len(imp.GoFiles) == 0 {
			continue
		}
		dir := filepath.Dir(imp.GoFiles[0])
		if within(as.module.Root, dir) {
			a.dir, a.subresources = dir, subresources(dir)
			a.unmarkable = len(a.subresources) == 0
			if a.unmarkable || !strings.HasPrefix(pkg.Path(), as.modulePath()) || nestedModule(as.module.Root, dir) {
				// The module of the kinds is not the one of the controllers, which has the requirements.
				a.patchers = as.elsewhere(pkg)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, pkg.Name()+"status", generated)); err == nil {
			// The patchers are beside the kinds, also those of another project.
			a.dir, a.exists, a.patchers = dir, true, pkg.Path()+"/"+pkg.Name()+"status"
		}
		break
	}
	if a.dir != "" {
		if _, err := os.Stat(filepath.Join(as.dirOf(a.patchers, a), generated)); err == nil {
			a.exists = true
		}
	}
	return a
}

// elsewhere is a package in the module of the controllers, for the patchers of kinds that belong to another module or that no
// marker can name.
func (as *apis) elsewhere(pkg *types.Package) string {
	for _, name := range []string{pkg.Name() + "status", path.Base(path.Dir(pkg.Path())) + pkg.Name() + "status"} {
		chosen := as.modulePath() + "/internal/" + name
		free := true
		for _, other := range as.byPath {
			free = free && other.patchers != chosen
		}
		if free {
			return chosen
		}
	}
	return as.modulePath() + "/internal/status/" + pkg.Path()
}

// dirOf is the directory of the package of patchers.
func (as *apis) dirOf(patchers string, a *api) string {
	if rel, ok := strings.CutPrefix(patchers, a.path+"/"); ok {
		return filepath.Join(a.dir, rel)
	}
	rel := strings.TrimPrefix(patchers, as.modulePath()+"/")
	return filepath.Join(as.module.Root, filepath.FromSlash(rel))
}

func (as *apis) modulePath() string {
	for _, p := range as.module.Packages {
		if p.Module != nil && p.Module.Main {
			return p.Module.Path
		}
	}
	return ""
}

// hasPatcher reports whether the package of patchers that is there has the kind.
func (as *apis) hasPatcher(a *api, kind string) bool {
	for _, p := range as.module.Packages {
		if p.PkgPath == a.patchers {
			return kindVar(p.Types, kind)
		}
	}
	text, err := os.ReadFile(filepath.Join(as.dirOf(a.patchers, a), generated))
	return err == nil && strings.Contains(string(text), "\nvar "+kind+"Kind = ")
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// nestedModule reports whether a directory below root is in a module of its own.
func nestedModule(root, dir string) bool {
	for dir != root && within(root, dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
		dir = filepath.Dir(dir)
	}
	return false
}

// sorted are the packages of kinds that are written, in order.
func (as *apis) sorted() []*api {
	var out []*api
	for _, a := range as.byPath {
		if len(a.kinds) > 0 {
			out = append(out, a)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out
}

func commentText(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		b.WriteString(c.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// own reports whether patchers of a kind are generated, or can be: the kind is part of this repository.
func (as *apis) own(kind *types.Named) bool {
	a := as.byPath[kind.Obj().Pkg().Path()]
	if a == nil {
		a = as.find(kind.Obj().Pkg())
		as.byPath[kind.Obj().Pkg().Path()] = a
	}
	return a.exists || a.dir != ""
}

// flowPackages are the loaded packages by what the analysis knows them as.
func (p *Plan) flowPackages() map[*flow.Package]*packages.Package {
	out := map[*flow.Package]*packages.Package{}
	for pkg, fp := range p.module.Flow {
		out[fp] = pkg
	}
	return out
}
