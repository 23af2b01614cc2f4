package generator

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// controllerRuntime is the module that tells a module with controllers from one that has nothing but an API.
const controllerRuntime = "sigs.k8s.io/controller-runtime"

// buildable reports a package that the module it goes into could not build.
func (g *generation) buildable(c *collector, t *target) {
	m := findModule(t.dir)
	if m == nil {
		return // importPath reports it
	}
	pos := g.fset.Position(t.kinds[0].obj.Pos())
	if !m.has(patcherPath) {
		if g.Verify || !g.forControllers(m) {
			g.faults.at(pos, "the patchers of package %s would go into module %s, which does not require %s and could not build them: %s", t.kinds[0].obj.Pkg().Path(), m.path, patcherPath, g.withRuntime(m, t))
			return
		}
		g.notes = append(g.notes, fmt.Sprintf("module %s does not require %s, which generated code imports: run %s", m.path, patcherPath, g.get(m)))
	}
	for _, k := range t.kinds {
		for _, obj := range []string{k.obj.Pkg().Path(), k.status.Pkg().Path()} {
			s := c.prune.byPath(obj)
			if s == nil || s.pkg.Module == nil || m.has(s.pkg.Module.Path) {
				continue
			}
			g.faults.at(pos, "the patchers of %s would go into module %s, which does not require %s and could not build them: run go get %s in %s, or choose an output:dir= in a module that requires it", k.obj.Name(), m.path, s.pkg.Module.Path, s.pkg.Module.Path, g.faults.display(m.root))
			return
		}
	}
}

// forControllers tells whether a module is the one that the command runs in and that its controllers are in, as far as go.mod
// tells: a module inside another one is for an API, or for something else that others import. In a module of controllers the
// runtime may come last, with go mod tidy, as any import of generated code.
func (g *generation) forControllers(m *module) bool {
	return m.requires[controllerRuntime] && m.root == moduleRoot(g.faults.dir) && findModule(filepath.Dir(m.root)) == nil
}

// withRuntime says what to do about a module without the runtime. A module of nothing but an API had better stay so: what it
// requires is downloaded by everybody who imports the API.
func (g *generation) withRuntime(m *module, t *target) string {
	switch {
	case g.forControllers(m):
		return "run " + g.get(m)
	case m.requires[controllerRuntime]:
		return fmt.Sprintf("run %s, or generate them into the module of your controllers: %s", g.get(m), g.elsewhere(m, t))
	}
	return fmt.Sprintf("generate them into the module of your controllers: %s; or, if everybody who imports this module may download %s too, run %s", g.elsewhere(m, t), controllerRuntime, g.get(m))
}

// get is the command that makes a module require the runtime.
func (g *generation) get(m *module) string {
	return "go get " + patcherPath + g.in(m)
}

// in says where to run a command that is for a module.
func (g *generation) in(m *module) string {
	if m.root == g.faults.dir {
		return ""
	}
	return " in " + g.faults.display(m.root)
}

// elsewhere is the command that generates into the module of the controllers instead of m: the one around it, or the one that
// the command runs in.
func (g *generation) elsewhere(m *module, t *target) string {
	pkg := filepath.Dir(g.fset.Position(t.kinds[0].obj.Pos()).Filename)
	options := " output:dir=" + outputFor(m, pkg, t.kinds[0].obj.Pkg().Name())
	controllers := findModule(filepath.Dir(m.root))
	if around := findModule(g.faults.dir); controllers == nil && around != nil && around.root != m.root {
		controllers = around
	}
	if controllers == nil {
		return "run statuspatcher-gen there with paths= and the directory " + pkg + "," + options
	}
	rel, err := filepath.Rel(controllers.root, pkg)
	if err != nil {
		rel = pkg
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".") && !filepath.IsAbs(rel) {
		rel = "./" + rel
	}
	command := "run statuspatcher-gen paths=" + rel + options + g.in(controllers)
	if !controllers.has(patcherPath) {
		command += ", and " + g.get(controllers)
	}
	return command
}

// outputFor is where the patchers of a package go in another module. API packages called v1 are many: the path tells them apart.
func outputFor(m *module, pkg, name string) string {
	rel, err := filepath.Rel(m.root, filepath.Dir(pkg))
	if err != nil || pkg == m.root {
		rel = "."
	}
	return path.Join("internal", filepath.ToSlash(rel), name+"status")
}

// has tells whether a module can import the packages of another one: it requires it, or go.work puts both together.
func (m *module) has(path string) bool {
	return path == m.path || m.requires[path] || m.inWorkspaceWith(path)
}

// inWorkspaceWith tells whether the go.work of a module uses a directory with the module of a path.
func (m *module) inWorkspaceWith(path string) bool {
	name := m.workspace()
	content, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	used := usedBy(filepath.Dir(name), content)
	return used[m.path] && used[path]
}

// workspace is the go.work that the go command reads in a module; empty for none.
func (m *module) workspace() string {
	if name := os.Getenv("GOWORK"); name == "off" {
		return ""
	} else if name != "" {
		return name
	}
	for dir := m.root; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "go.work")
		if _, err := os.Stat(name); err == nil {
			return name
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// usedBy are the paths of the modules that a go.work uses.
func usedBy(dir string, content []byte) map[string]bool {
	used := map[string]bool{}
	work, err := modfile.ParseWork("go.work", content, nil)
	if err != nil {
		return used
	}
	for _, use := range work.Use {
		root := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(root) {
			root = filepath.Join(dir, root)
		}
		if gomod, err := os.ReadFile(filepath.Join(root, "go.mod")); err == nil {
			used[modfile.ModulePath(gomod)] = true
		}
	}
	return used
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
					command := "statuspatcher-gen paths=" + rel
					if !m.has(patcherPath) {
						command += " output:dir=" + outputFor(m, d.path, filepath.Base(d.path))
					}
					g.faults.add("paths=%s: no kind is marked in this module; %s is in a module of its own, %s: run %s", pattern, rel, m.path, command)
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
