package generator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	modulepath "golang.org/x/mod/module"
)

// A target is a directory that gets a file.
type target struct {
	dir, importPath, name string
	same                  bool
	kinds                 []kind
	// declared are the identifiers of the package's other files, with their places.
	declared map[string]token.Position
}

// files plans the file of each target.
func (g *generation) files(m *module, c *collector, kinds []kind) error {
	render, err := newRenderer(g.templates)
	if err != nil {
		return err
	}
	for _, t := range g.targets(m, c, kinds) {
		if content, ok := g.file(render, m, c, t); ok {
			g.want[filepath.Join(t.dir, OutputName)] = content
		}
	}
	return nil
}

// file makes the file of one target. A fault in one keeps no other from being looked at: a run reports all of them.
func (g *generation) file(render *renderer, m *module, c *collector, t *target) (content []byte, ok bool) {
	before := len(g.faults.list)
	g.neighbours(t)
	g.clashes(t)
	g.unreachable(t)
	g.buildable(c, t)
	g.constrained(c, t)
	g.foreignRun(t)
	g.cycle(c, t)
	if len(g.faults.list) > before {
		return nil, false
	}
	content, err := render.render(g.model(m, c, t))
	if err != nil {
		g.doesNotCompile(t, t.kinds[0], err.Error())
		return nil, false
	}
	return content, g.compiles(c, t, content)
}

// targets groups the kinds by where they are written.
func (g *generation) targets(m *module, c *collector, kinds []kind) []*target {
	byDir := map[string]*target{}
	packages := map[string]bool{}
	for _, k := range kinds {
		packages[k.obj.Pkg().Path()] = true
		t := g.target(c, k)
		if known := byDir[t.dir]; known != nil {
			t = known
		}
		t.kinds = append(t.kinds, k)
		byDir[t.dir] = t
	}
	if g.OutputDir != "" && len(g.Types) == 0 && len(packages) > 1 {
		g.faults.add("output:dir= takes the patchers of one API package, but %d have marked kinds: %s: run the command once for each, or remove output:dir=", len(packages), strings.Join(sortedKeys(packages), ", "))
		return nil
	}
	var out []*target
	for _, dir := range sortedKeys(byDir) {
		out = append(out, byDir[dir])
	}
	return out
}

func (g *generation) target(c *collector, k kind) *target {
	api := c.prune.byPath(k.obj.Pkg().Path()).pkg
	dir := filepath.Dir(api.CompiledGoFiles[0])
	switch {
	case g.OutputSame, g.OutputDir != "" && sameDir(g.OutputDir, dir):
		return &target{dir: dir, importPath: api.PkgPath, name: api.Name, same: true}
	case g.OutputDir != "":
		return &target{dir: g.OutputDir, importPath: g.importPath(g.OutputDir), name: packageName(g.OutputDir)}
	}
	name := api.Name + "status"
	return &target{dir: filepath.Join(dir, name), importPath: path.Join(api.PkgPath, name), name: name}
}

// sameDir tells whether two paths lead to one directory, symbolic links included.
func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// packageName makes a package name of a directory's: never main, which nothing can import.
func packageName(dir string) string {
	name := strings.ToLower(strings.ReplaceAll(identifier(filepath.Base(dir)), "_", ""))
	if !token.IsIdentifier(name) || name == "main" {
		name = "status" + name
	}
	return name
}

// importPath is that of a directory, which need not exist yet.
func (g *generation) importPath(dir string) string {
	m := findModule(dir)
	if m == nil {
		g.faults.add("output:dir=%s: no go.mod in this directory or above it: choose a directory in the module of your controllers", g.faults.display(dir))
		return ""
	}
	importPath, err := m.importPath(dir)
	if err != nil {
		g.faults.add("output:dir=%s: %v", g.faults.display(dir), err)
	} else if invalid := (*modulepath.InvalidPathError)(nil); errors.As(modulepath.CheckImportPath(importPath), &invalid) {
		g.faults.add("output:dir=%s: Go code cannot import %q (%v): choose a name of ASCII letters, digits, and the characters - . _ ~", g.faults.display(dir), importPath, invalid.Err)
	}
	return importPath
}

// checkOutputDir refuses directories that the go command leaves out.
func (g *generation) checkOutputDir() {
	if g.OutputDir == "" {
		return
	}
	name := g.faults.display(g.OutputDir)
	m := findModule(existing(g.OutputDir))
	if m == nil {
		return // importPath reports it
	}
	rel, err := filepath.Rel(m.root, g.OutputDir)
	if err != nil {
		return
	}
	for element := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if element != "." && element != "testdata" && skipped(element) {
			g.faults.add("output:dir=%s: the go command ignores directories named %s: choose another name", name, element)
			return
		}
	}
}

// neighbours reads what the other files of the package declare, and takes over the package's name.
func (g *generation) neighbours(t *target) {
	t.declared = map[string]token.Position{}
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return // there is no such directory yet
	}
	named := ""
	for _, entry := range entries {
		name := filepath.Join(t.dir, entry.Name())
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil || ours(content) && entry.Name() == OutputName {
			continue
		}
		fset := token.NewFileSet()
		file, _ := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if file == nil || strings.HasSuffix(file.Name.Name, "_test") {
			continue
		}
		if (strings.HasSuffix(name, "_test.go") || t.same || leftOut(content)) && file.Name.Name != t.name {
			continue
		}
		at := fset.Position(file.Name.Pos())
		switch {
		case file.Name.Name == t.name:
		case g.OutputDir == "":
			g.faults.at(at, "package %s is in the directory where package %s would be generated: move it, or choose another directory with output:dir=", file.Name.Name, t.name)
		case named != "" && named != file.Name.Name:
			g.faults.at(at, "package %s is in output:dir=%s beside package %s: a directory holds one package, so choose another one", file.Name.Name, g.faults.display(t.dir), named)
		default:
			t.name = file.Name.Name
		}
		named = file.Name.Name
		declare(fset, file, t.declared)
	}
}

// leftOut tells whether a file is no part of any package: the go command knows it by //go:build ignore.
func leftOut(content []byte) bool {
	for _, line := range fileConstraints("", content) {
		expr, err := constraint.Parse(line)
		if err == nil && !expr.Eval(func(tag string) bool { return tag != "ignore" && tag != "tools" }) {
			return true
		}
	}
	return false
}

func declare(fset *token.FileSet, file *ast.File, into map[string]token.Position) {
	add := func(name *ast.Ident) { into[name.Name] = fset.Position(name.Pos()) }
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name)
					}
				}
			}
		}
	}
}

// clashes finds names that would be declared twice.
func (g *generation) clashes(t *target) {
	by := map[string]kind{}
	slices.SortFunc(t.kinds, func(a, b kind) int { return cmp.Compare(a.obj.Pos(), b.obj.Pos()) })
next:
	for _, k := range t.kinds {
		name := k.obj.Name()
		var declared []string
		for _, prefix := range k.prefixes() {
			declared = append(declared, prefix+"StatusClient", "New"+prefix+"StatusClient", prefix+"StatusPatcher")
		}
		for _, made := range declared {
			pos := g.fset.Position(k.obj.Pos())
			if at, taken := t.declared[made]; taken {
				g.faults.at(at, "%s is declared here, but it would be generated for %s, too: rename this one, or generate into another package with output:dir=", made, name)
			} else if other, taken := by[made]; taken && len(k.owners)+len(other.owners) > 0 {
				g.faults.at(pos, "%s would be generated twice, for this type and for %s, of which at least one is for an owner: rename the owner", made, other.obj.Name())
				continue next
			} else if taken {
				g.faults.at(pos, "%s would be generated twice, for this type and for %s.%s: generate each in a run of its own, into a different output:dir=", made, other.obj.Pkg().Path(), other.obj.Name())
				continue next
			}
			by[made] = k
		}
	}
	for _, name := range fixedImports {
		if at, taken := t.declared[name]; taken {
			g.faults.at(at, "%s is declared here, but the generated file imports a package by that name: rename this one, or generate into another package with output:dir=", name)
		}
	}
}

// unreachable finds kinds and statuses that the generated package could not name.
func (g *generation) unreachable(t *target) {
	for _, k := range t.kinds {
		for _, obj := range []*types.TypeName{k.obj, k.status} {
			pos := g.fset.Position(obj.Pos())
			switch {
			case obj.Pkg().Path() == t.importPath:
			case !obj.Exported():
				g.faults.at(pos, "%s, the Status of %s, is not exported, so package %s cannot use it: start its name with a capital letter, or generate with output:same", obj.Name(), k.obj.Name(), t.importPath)
			case !importable(obj.Pkg(), t.importPath):
				g.faults.at(pos, "package %s is internal, and %s cannot import it: choose an output:dir= beside it", obj.Pkg().Path(), t.importPath)
			}
		}
		g.unreachableValues(t, k)
	}
}

// unreachableValues finds write-once fields whose type the generated package could not name.
func (g *generation) unreachableValues(t *target, k kind) {
	for _, f := range k.writeOnce {
		named, ok := types.Unalias(f.value).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() == t.importPath {
			continue
		}
		switch obj := named.Obj(); {
		case !obj.Exported():
			g.faults.at(g.fset.Position(f.pos), "%s, the type of the write-once field %s, is not exported, so package %s cannot use it: start its name with a capital letter, or generate with output:same", obj.Name(), f.path, t.importPath)
		case !importable(obj.Pkg(), t.importPath):
			g.faults.at(g.fset.Position(f.pos), "the write-once field %s has a type of the internal package %s, and %s cannot import it: choose an output:dir= beside it", f.path, obj.Pkg().Path(), t.importPath)
		}
	}
}

// model makes what the templates are told of a target.
func (g *generation) model(m *module, c *collector, t *target) *file {
	taken := &names{taken: map[string]bool{}}
	for name := range t.declared {
		taken.taken[name] = true
	}
	api := map[string]bool{}
	for _, k := range t.kinds {
		api[k.obj.Pkg().Path()] = true
	}
	if len(api) > 1 {
		api = nil // none of them is the one that readers think of as v1
	}
	im := newImports(t.importPath, api, taken.taken)
	compare := &comparer{
		imports: im, names: taken, local: t.importPath,
		byType: map[*types.TypeName]*equalFunc{}, visiting: map[*types.TypeName]bool{},
		own: func(pkg *types.Package) bool {
			s := c.prune.byPath(pkg.Path())
			return s != nil && s.pkg.Module != nil && c.prune.own[s.pkg.Module.Path]
		},
		marshals: func(obj *types.TypeName) bool {
			s := obj.Pkg() != nil && c.prune.byPath(obj.Pkg().Path()) != nil
			return s && c.prune.byPath(obj.Pkg().Path()).methods[method{obj.Name(), "MarshalJSON"}] != nil
		},
		importable: func(pkg *types.Package) bool { return importable(pkg, t.importPath) },
	}
	maker := &modeller{imports: im, names: taken, compare: compare}
	out := &file{Header: header, Boilerplate: g.boilerplate, Package: t.name, Same: t.same, Constraint: g.constraintsOf(c, t)}
	out.Kinds = maker.kinds(t.kinds)
	out.KindsFunc = taken.exported("Kinds", "StatusKinds")
	out.NewClientVar = taken.exported("NewClient", "NewStatusCheckingClient")
	out.Funcs = compare.funcs
	out.Standard, out.Others = im.lines()
	out.Contents = contents(t.kinds, len(g.Types) == 0)
	return out
}

// contents says in words whose patchers a file has.
func contents(kinds []kind, marked bool) string {
	paths := map[string]bool{}
	for _, k := range kinds {
		paths[k.obj.Pkg().Path()] = true
	}
	if marked && len(paths) == 1 {
		return fmt.Sprintf("has a status patcher for each marked kind of package %s", kinds[0].obj.Pkg().Name())
	}
	return "has status patchers for kinds of " + strings.Join(sortedKeys(paths), ", ")
}

// importable tells whether a file of the package at path local may import pkg.
func importable(pkg *types.Package, local string) bool {
	before, _, inside := cutLast(pkg.Path(), "internal")
	return pkg.Name() != "main" && (!inside || local == before || strings.HasPrefix(local, before+"/"))
}

// cutLast cuts an import path around the last element that is elem.
func cutLast(importPath, elem string) (before, after string, found bool) {
	parts := strings.Split(importPath, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == elem {
			return strings.Join(parts[:i], "/"), strings.Join(parts[i+1:], "/"), true
		}
	}
	return importPath, "", false
}

// retire plans to remove what earlier runs wrote for the directories that the patterns name, and for packages that are gone. What
// is still wanted is planned over it later.
func (g *generation) retire(m *module) {
	if g.OutputDir != "" {
		g.retireFile(filepath.Join(g.OutputDir, OutputName), func(content []byte) bool {
			return g.ofPackages(content) || g.orphaned(content)
		})
		return
	}
	for _, d := range m.sorted() {
		if inAPIPackage.Match(d.output) || d.output != nil && g.orphaned(d.output) {
			g.want[filepath.Join(d.path, OutputName)] = nil
		}
		children, _ := filepath.Glob(filepath.Join(escape(d.path), "*status", OutputName))
		for _, child := range children {
			// The child package of an API package imports it; anything else in such a place is not of this run.
			g.retireFile(child, func(content []byte) bool {
				return bytes.Contains(content, []byte(`"`+d.importPath+`"`)) || g.orphaned(content)
			})
		}
	}
}

// inAPIPackage matches a file that output:same wrote.
var inAPIPackage = regexp.MustCompile(`(?m)^//go:build .*!ignore_autogenerated`)

func (g *generation) retireFile(name string, of func(content []byte) bool) {
	if content, err := os.ReadFile(name); err == nil && ours(content) && of(content) {
		g.want[name] = nil
	}
}

// escape keeps the characters of a path from being a pattern.
func escape(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// testMarkers reports markers in a test file, where nobody reads them.
func (g *generation) testMarkers(name string) {
	file, _ := parser.ParseFile(g.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return
	}
	for _, l := range lines(file.Comments...) {
		if judge(l.text) == ok {
			g.faults.at(g.fset.Position(l.pos), "%s has no effect in a test file: move the type into another file, or remove the line", l.text)
		}
	}
}
