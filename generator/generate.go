package generator

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/statuspatcher/statuspatcher/templates"
)

// ErrStale is what Run with Verify returns when generated files are not what they would be, for errors.As. Files counts them.
type ErrStale struct{ Files int }

func (e ErrStale) Error() string {
	if e.Files == 1 {
		return "1 file is stale: run statuspatcher-gen with the same options, without verify"
	}
	return fmt.Sprintf("%d files are stale: run statuspatcher-gen with the same options, without verify", e.Files)
}

// Run generates the patchers that the options ask for, or under Verify compares. It returns Errors for wrong input, and then has
// written nothing; ErrStale under Verify, with the diff on stdout; an error of the file system where a file cannot be written.
// Notes for the user, such as RBAC markers that are missing, are no errors, and go to stderr.
func Run(o Options, stdout, stderr io.Writer) error {
	g, err := newGeneration(o)
	if err != nil {
		return err
	}
	want, err := g.plan()
	if err != nil {
		return err
	}
	changes, err := g.changes(want)
	if err != nil {
		return err
	}
	if err := g.reportStale(stderr); err != nil {
		return err
	}
	if err := g.noteRights(stderr); err != nil {
		return err
	}
	if err := g.printNotes(stderr); err != nil {
		return err
	}
	if !o.Verify {
		sweep(sortedKeys(want))
		return g.write(changes)
	}
	for _, c := range changes {
		if _, err := io.WriteString(stdout, c.unified(g.faults.display(c.path))); err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		return ErrStale{len(changes)}
	}
	return nil
}

// printNotes prints each note once.
func (g *generation) printNotes(out io.Writer) error {
	slices.Sort(g.notes)
	for _, note := range slices.Compact(g.notes) {
		if _, err := fmt.Fprintf(out, "note: %s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// A generation is one run.
type generation struct {
	Options
	fset   *token.FileSet
	faults *faults
	// boilerplate is the text of headerFile without its build constraints, which come first in a file.
	boilerplate string
	constraints []string
	modules     map[string]*module
	// want are the files that there should be, nil for those that there should not.
	want map[string][]byte
	// markers counts the markers, and the kinds of types=.
	markers int
	// rights are what the patchers need of the API server.
	rights []right
	// stale are the DeepCopyInto methods that are older than their types.
	stale []staleCopy
	// notes are what the user should know beside errors.
	notes []string
	// load lists packages: a field for tests, which load once and run often.
	load func(fset *token.FileSet, root, tags string, paths []string) ([]*loader.Package, error)
	// templates are those of package templates: a field for tests, which break them.
	templates fs.FS
}

func newGeneration(o Options) (*generation, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	g := &generation{Options: o, fset: token.NewFileSet(), faults: &faults{dir: dir}, modules: map[string]*module{}, want: map[string][]byte{}, load: load, templates: templates.FS}
	if o.HeaderFile != "" {
		if err := g.readHeader(); err != nil {
			return nil, err
		}
	}
	if o.OutputDir != "" && !filepath.IsAbs(o.OutputDir) {
		g.OutputDir = filepath.Join(dir, o.OutputDir)
	}
	return g, nil
}

// readHeader reads the text that starts each file. It has to be a comment.
func (g *generation) readHeader() error {
	path := g.HeaderFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.faults.dir, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		g.faults.add("headerFile=%s: %v: correct the path, or remove the option", g.faults.display(path), cause(err))
		return g.faults.err()
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(content), "\r\n", "\n"), " YEAR", " "+g.Year)
	if at, found := outsideComments(text); found {
		at.Filename = path
		g.faults.at(at, "headerFile must contain only Go comments, but this is not a comment: start each line with //")
	}
	g.boilerplate, g.constraints = withoutConstraints(text)
	return g.faults.err()
}

// outsideComments finds the first thing in a text that is not in a Go comment.
func outsideComments(text string) (at token.Position, found bool) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	failed := token.NoPos
	s.Init(file, []byte(text), func(at token.Position, _ string) {
		if !failed.IsValid() {
			failed = file.Pos(at.Offset)
		}
	}, 0)
	pos, tok, _ := s.Scan()
	if failed.IsValid() {
		return fset.Position(failed), true
	}
	return fset.Position(pos), tok != token.EOF
}

// plan finds out which files there should be.
func (g *generation) plan() (map[string][]byte, error) {
	scan := &finder{faults: g.faults, modules: g.modules}
	foreign := scan.scan(g.Paths)
	g.namedByDirectory(scan)
	if len(g.Types) > 0 || len(foreign) > 0 {
		if m := scan.moduleOf(g.faults.dir, "."); m != nil {
			for _, name := range g.Types {
				path, _ := splitType(name)
				foreign = append(foreign, path)
			}
		}
	}
	g.checkOutputDir()
	if err := g.faults.err(); err != nil {
		return nil, err
	}
	for _, root := range sortedKeys(g.modules) {
		m := g.modules[root]
		g.retire(m)
		paths := foreign
		if m != g.modules[moduleRoot(g.faults.dir)] {
			paths = nil
		}
		if err := g.module(m, paths); err != nil {
			return nil, err
		}
	}
	if g.markers == 0 && len(g.want) == 0 && len(g.faults.list) == 0 {
		g.nothing()
	}
	return g.want, g.faults.err()
}

// namedByDirectory reports kinds of types= whose package is named as a directory.
func (g *generation) namedByDirectory(f *finder) {
	for _, name := range g.Types {
		dir, kind := splitType(name)
		local := strings.HasPrefix(dir, ".") || filepath.IsAbs(dir)
		first, _, _ := strings.Cut(dir, "/")
		path := dir
		if !filepath.IsAbs(path) {
			path = filepath.Join(g.faults.dir, dir)
		}
		if _, err := os.Stat(path); !local && (err != nil || strings.Contains(first, ".")) {
			continue
		}
		if m := findModule(existing(path)); m != nil {
			importPath, _ := m.importPath(path)
			g.faults.add("types=%s: this names a directory, but types= takes the import path of the package: write types=%s.%s", name, importPath, kind)
		}
	}
}

// nothing reports that no marker was found, at the kinds that could have one.
func (g *generation) nothing() {
	if g.inNestedModules() {
		return
	}
	for _, m := range g.modules {
		for _, d := range m.dirs {
			for _, pos := range d.unmarked {
				g.faults.at(pos, "this kind has a status subresource, but no kind in paths=%s is marked: add // +%s=true on the next line", strings.Join(g.Paths, ";"), generateMarker)
			}
		}
	}
	if len(g.faults.list) == 0 {
		g.faults.add("paths=%s: no kind is marked: add // +%s=true above a kind, or above the package clause for all kinds of the package", strings.Join(g.Paths, ";"), generateMarker)
	}
}

func moduleRoot(dir string) string {
	if m := findModule(dir); m != nil {
		return m.root
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// module plans the files of one module.
func (g *generation) module(m *module, foreign []string) error {
	paths := slices.Clone(foreign)
	for _, d := range m.sorted() {
		for _, test := range d.tests {
			g.testMarkers(test)
		}
		if d.marked {
			paths = append(paths, d.importPath)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	pkgs, err := g.load(g.fset, m.root, g.Tags, slices.Compact(paths))
	if err != nil {
		reason := err.Error()
		if _, said, found := strings.Cut(reason, "stderr: "); found {
			reason = said
		}
		g.faults.add("the go command cannot list the packages in %s: %s: fix this first; go list ./... reports the same", g.faults.display(m.root), oneLine(reason))
		return g.faults.err()
	}
	if len(pkgs) == 0 && len(foreign) > 0 {
		g.faults.add("paths=%s: no package matches: correct the import path, or run go get for its module", strings.Join(foreign, ";"))
	}
	for _, pkg := range pkgs {
		if len(pkg.CompiledGoFiles) == 0 && len(g.Types) == 0 {
			for _, e := range pkg.Errors {
				g.faults.at(position(e.Pos), "paths=%s: %s", pkg.PkgPath, oneLine(e.Msg))
			}
		}
	}
	c := &collector{fset: g.fset, faults: g.faults, prune: newPruner(g.fset, m.path), scanned: map[*loader.Package]bool{}}
	if len(g.Types) > 0 {
		c.namedKinds(pkgs, g.Types)
	} else {
		for _, pkg := range pkgs {
			c.markedKinds(pkg)
		}
	}
	kinds := c.resolve()
	g.markers += c.markers
	if c.broken {
		return nil // what follows from it helps nobody
	}
	g.stale = append(g.stale, g.staleCopies(c, kinds)...)
	for _, k := range kinds {
		s := c.prune.byPath(k.obj.Pkg().Path())
		if group, known := s.groupOf(); known {
			g.rights = append(g.rights, rightsOf(k.obj.Name(), group, s.lines(k.obj.Name()))...)
		}
	}
	return g.files(m, c, kinds)
}
