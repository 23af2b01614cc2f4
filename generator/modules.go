package generator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// controllerRuntime is the module that everything generated needs, beside the runtime itself, which go mod tidy adds.
const controllerRuntime = "sigs.k8s.io/controller-runtime"

// buildable reports a package that the module it goes into could not build.
func (g *generation) buildable(c *collector, t *target) {
	m := findModule(t.dir)
	if m == nil || m.path == controllerRuntime {
		return
	}
	pos := g.fset.Position(t.kinds[0].obj.Pos())
	if !m.requires[controllerRuntime] && !m.requires[patcherPath] {
		g.faults.at(pos, "the patchers of package %s would go into module %s, which does not require %s and could not build them: generate them into the module of your controllers: %s", t.kinds[0].obj.Pkg().Path(), m.path, controllerRuntime, g.elsewhere(m, t))
		return
	}
	for _, k := range t.kinds {
		for _, obj := range []string{k.obj.Pkg().Path(), k.status.Pkg().Path()} {
			s := c.prune.byPath(obj)
			if s == nil || s.pkg.Module == nil || s.pkg.Module.Path == m.path || m.requires[s.pkg.Module.Path] || inWorkspace(m, s.pkg.Module.Dir) {
				continue
			}
			g.faults.at(pos, "the patchers of %s would go into module %s, which does not require %s and could not build them: run go get %s in %s, or choose an output:dir= in a module that requires it", k.obj.Name(), m.path, s.pkg.Module.Path, s.pkg.Module.Path, g.faults.display(m.root))
			return
		}
	}
}

// elsewhere is the command that generates into the module around one that has nothing but an API.
func (g *generation) elsewhere(m *module, t *target) string {
	api := t.kinds[0].obj.Pkg()
	options := " output:dir=internal/" + api.Name() + "status"
	around := findModule(filepath.Dir(m.root))
	rel := ""
	if around != nil && (around.requires[controllerRuntime] || around.requires[patcherPath]) {
		rel, _ = filepath.Rel(around.root, filepath.Dir(g.fset.Position(t.kinds[0].obj.Pos()).Filename))
	}
	if rel == "" {
		return "run there statuspatcher-gen paths=" + api.Path() + options
	}
	command := "run statuspatcher-gen paths=./" + filepath.ToSlash(rel) + options
	if around.root != g.faults.dir {
		command += " in " + g.faults.display(around.root)
	}
	return command
}

// inWorkspace tells whether go.work puts a module and the directory of another one together.
func inWorkspace(m *module, other string) bool {
	for dir := m.root; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.work"))
		if err == nil {
			return usedTogether(dir, content, m.root, other)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func usedTogether(dir string, content []byte, roots ...string) bool {
	work, err := modfile.ParseWork("go.work", content, nil)
	if err != nil {
		return false
	}
	var used []string
	for _, use := range work.Use {
		path := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		used = append(used, filepath.Clean(path))
	}
	return !slices.ContainsFunc(roots, func(root string) bool { return !slices.Contains(used, root) })
}

// nestedModules are the modules below a directory that have kinds that are marked.
func nestedModules(root string) []*module {
	var out []*module
	_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case path != root && skipped(entry.Name()):
			return filepath.SkipDir
		case path != root && nested(path):
			if m := findModule(path); m.walkAll() {
				out = append(out, m)
			}
			return filepath.SkipDir
		}
		return nil
	})
	return out
}

// walkAll reads all directories of a module, and tells whether one has markers.
func (m *module) walkAll() bool {
	_ = filepath.WalkDir(m.root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if path != m.root && (skipped(entry.Name()) || nested(path)) {
			return filepath.SkipDir
		}
		_, err = m.read(path)
		return err
	})
	for _, d := range m.dirs {
		if d.marked {
			return true
		}
	}
	return false
}

// inNestedModules reports the marked kinds of modules below, which "..." does not reach, where this module has none.
func (g *generation) inNestedModules() bool {
	before := len(g.faults.list)
	for _, pattern := range g.Paths {
		base, recursive := strings.CutSuffix(filepath.ToSlash(pattern), "/...")
		if pattern == "..." {
			base, recursive = ".", true
		}
		if !recursive {
			continue
		}
		for _, m := range nestedModules(filepath.Join(g.faults.dir, base)) {
			for _, d := range m.sorted() {
				if d.marked {
					rel := "./" + filepath.ToSlash(g.faults.display(d.path))
					g.faults.add("paths=%s: no kind is marked in this module; %s is in a module of its own, %s: run statuspatcher-gen paths=%s output:dir=internal/%sstatus", pattern, rel, m.path, rel, filepath.Base(d.path))
				}
			}
		}
	}
	return len(g.faults.list) > before
}

// cycle reports an API package that needs the package which is generated for it.
func (g *generation) cycle(c *collector, t *target) {
	if t.same {
		return
	}
	for _, k := range t.kinds {
		s := c.prune.byPath(k.obj.Pkg().Path())
		if through := importedBy(s.pkg, t.importPath, map[*loader.Package]bool{}); through != "" {
			g.faults.at(g.fset.Position(k.obj.Pos()), "package %s imports %s, which is generated for the kinds of package %s and imports it: an import cycle does not compile, so move what needs the patchers of %s out of there", through, t.importPath, k.obj.Pkg().Path(), k.obj.Name())
			return
		}
	}
}

// importedBy finds the package, among those of the same module that pkg needs, that imports path.
func importedBy(pkg *loader.Package, path string, done map[*loader.Package]bool) string {
	done[pkg] = true
	for imported, p := range pkg.Imports() {
		if imported == path {
			return pkg.PkgPath
		}
		if p.Module == nil || pkg.Module == nil || p.Module.Path != pkg.Module.Path || done[p] {
			continue
		}
		if through := importedBy(p, path, done); through != "" {
			return through
		}
	}
	return ""
}
