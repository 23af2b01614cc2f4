package generator

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	goscanner "go/scanner"
	"go/token"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// A wanted is a kind to generate for, before its types are known.
type wanted struct {
	pkg  *loader.Package
	name string
	// pos is the marker, or for types= nothing.
	pos token.Position
	// byPackage tells that it is the package that is marked.
	byPackage bool
	// markable tells that the kind was found by a marker: then its subresource must be declared too.
	markable bool
}

// drop is the fix for what cannot have a patcher.
func (w wanted) drop() string {
	switch {
	case !w.markable:
		return "remove it from types="
	case w.byPackage:
		return "add // +" + generateMarker + "=false above it"
	}
	return fmt.Sprintf("remove // +%s=true from line %d", generateMarker, w.pos.Line)
}

// cure is what to do about a type: for one of types=, which others own, nothing but to leave it out.
func (w wanted) cure(change string) string {
	if w.markable {
		return change
	}
	return w.drop()
}

// move is the fix for what is meant for another type.
func (w wanted) move(to string) string {
	if !w.markable {
		return "name " + to + " in types="
	}
	return "put // +" + generateMarker + "=true above " + to
}

// A collector finds out what is asked for in the packages of one load.
type collector struct {
	fset   *token.FileSet
	faults *faults
	prune  *pruner
	wanted []wanted
	// markers counts what was found, right or wrong, marked true or false.
	markers int
	// scanned are the packages whose markers were read.
	scanned map[*loader.Package]bool
	// broken tells that a type among those that were kept does not compile.
	broken bool
}

// markedKinds reads the markers of a package.
func (c *collector) markedKinds(pkg *loader.Package) {
	s := c.prune.source(pkg)
	for _, err := range s.errors {
		c.syntax(err)
	}
	c.scanned[pkg] = true
	m := &marked{fset: c.fset, faults: c.faults, registry: MarkerRegistry(), once: map[*ast.Field]token.Pos{}, owners: map[string][]token.Pos{}, requests: requests{types: map[string]request{}}}
	for _, file := range s.files {
		m.scanFile(file.File)
	}
	c.leftOut(pkg, m.pack.IsValid())
	c.markers += m.count
	names := map[string]token.Pos{}
	if m.pack.IsValid() {
		for _, name := range m.subresources {
			if !strings.HasSuffix(name, "List") || c.prune.source(pkg).decls[strings.TrimSuffix(name, "List")] == nil {
				names[name] = m.pack
			}
		}
		if len(m.subresources) == 0 && len(c.faults.list) == 0 {
			m.fault(m.pack, "package %s is marked, but none of its types has the marker of a status subresource: add // +kubebuilder:subresource:status above each kind that has a status", pkg.Name)
		}
	}
	for name, r := range m.types {
		if r.generate {
			names[name] = r.pos
		} else {
			delete(names, name)
		}
	}
	m.withoutKind(names)
	for name, pos := range names {
		c.wanted = append(c.wanted, wanted{pkg: pkg, name: name, pos: c.fset.Position(pos), byPackage: pos == m.pack, markable: true})
		c.prune.keepKind(s, name)
	}
}

// leftOut reports markers in files that build constraints leave out, and for a package that is marked, its kinds that are there
// on other platforms only: what is generated must not depend on the machine.
func (c *collector) leftOut(pkg *loader.Package, packageMarked bool) {
	for _, name := range pkg.IgnoredFiles {
		content, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || ours(content) || !maybeMarked(content) && !packageMarked {
			continue
		}
		constraints := fileConstraints(name, content)
		platform := otherPlatform(constraints)
		file, _ := parser.ParseFile(c.fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		for _, group := range file.Comments {
			c.leftOutComment(pkg, lines(group), packageMarked, platform, allOf(constraints))
		}
	}
}

// leftOutComment reports what one comment says about kinds in a file that build constraints leave out.
func (c *collector) leftOutComment(pkg *loader.Package, group []line, packageMarked bool, platform, constraints string) {
	if has(group, generateMarker+"=false") {
		return
	}
	for _, l := range group {
		switch pos := c.fset.Position(l.pos); {
		case judge(l.text) == ok && platform != "":
			c.faults.at(pos, "this file is built only under //go:build %s, so %s is not read on %s: run statuspatcher-gen with %s, or remove the line", constraints, l.text, runtime.GOOS, platform)
		case judge(l.text) == ok:
			c.faults.at(pos, "//go:build %s excludes this file, so %s is not read: set the build tags with tags=, or remove the line", constraints, l.text)
		case packageMarked && platform != "" && l.text == "+kubebuilder:subresource:status":
			c.faults.at(pos, "package %s is marked, and this kind is there only under //go:build %s: run statuspatcher-gen with %s; if the package has other kinds too, move this one into a package of its own, or add // +%s=false above it", pkg.Name, constraints, platform, generateMarker)
		}
	}
}

// namedKinds wants the kinds of types=.
func (c *collector) namedKinds(pkgs []*loader.Package, names []string) {
	for _, name := range names {
		path, kind := splitType(name)
		at := slices.IndexFunc(pkgs, func(pkg *loader.Package) bool { return pkg.PkgPath == path })
		if at < 0 || len(pkgs[at].CompiledGoFiles) == 0 {
			c.noPackage(name, path)
			continue
		}
		s := c.prune.source(pkgs[at])
		if d := s.decls[kind]; d == nil || d.spec == nil {
			c.faults.add("types=%s: package %s has no type %s: %s", name, path, kind, s.suggest(kind))
			continue
		}
		c.markers++
		c.wanted = append(c.wanted, wanted{pkg: pkgs[at], name: kind, pos: c.fset.Position(s.decls[kind].spec.Pos())})
		c.prune.keepKind(s, kind)
	}
}

// noPackage reports a kind of types= whose package was not found.
func (c *collector) noPackage(name, path string) {
	for own := range c.prune.own {
		if path == own || strings.HasPrefix(path, own+"/") {
			c.faults.add("types=%s: this module has no package %s: correct the import path", name, path)
			return
		}
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		c.faults.add("types=%s: there is no package %s: write its full import path, as in types=k8s.io/api/core/v1.Node", name, path)
		return
	}
	c.faults.add("types=%s: package %s was not found: run go get %s, or correct the import path", name, path, path)
}

// resolve type-checks what was collected and turns it into kinds.
func (c *collector) resolve() []kind {
	c.prune.finish()
	checker := &loader.TypeChecker{}
	r := &resolver{fset: c.fset, faults: c.faults, prune: c.prune, once: c.onceMarks()}
	for _, pkg := range c.prune.inOrder() {
		checker.Check(pkg)
	}
	c.typeErrors()
	var out []kind
	for _, w := range c.wanted {
		if k, ok := r.resolve(w); ok {
			out = append(out, k)
		}
	}
	if len(out) == len(c.wanted) && !c.broken {
		r.unusedOnce()
	}
	return out
}

// typeErrors reports what does not compile among the types that were kept, and the imports that are the cause.
func (c *collector) typeErrors() {
	for pkg, s := range c.prune.sources {
		broken := false
		for _, e := range pkg.Errors {
			if e.Kind != packages.TypeError {
				continue
			}
			broken = true
			if !strings.HasPrefix(e.Msg, "could not import") { // importErrors has a better text
				c.faults.at(position(e.Pos), "%s", strings.TrimSpace(e.Msg)) // it is indented where it continues another one
			}
		}
		if !broken {
			continue
		}
		c.broken = true
		for _, err := range s.errors {
			c.syntax(err)
		}
		for _, file := range s.files {
			c.importErrors(file)
		}
	}
}

// importErrors reports the packages that a file needs and that the go command did not find.
func (c *collector) importErrors(file *sourceFile) {
	for spec := range file.imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		imported := file.pkg.pkg.Imports()[path]
		if imported == nil || imported.Name != "" {
			continue
		}
		reason := fmt.Sprintf("there is no package %s: run go get %s", path, path)
		for _, e := range imported.Errors {
			reason = oneLine(e.Msg)
		}
		c.faults.at(c.fset.Position(spec.Path.Pos()), "%s", reason)
	}
}

// oneLine joins the lines in which the go command breaks its advice.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// syntax reports an error of reading or parsing.
func (c *collector) syntax(err error) {
	c.broken = true
	var list goscanner.ErrorList
	if !errors.As(err, &list) {
		c.faults.add("%v", err)
		return
	}
	for _, e := range list {
		c.faults.at(e.Pos, "%s", e.Msg)
	}
}

// position reads file:line:column, as packages.Error has it.
func position(text string) token.Position {
	parts := strings.Split(text, ":")
	if len(parts) < 2 {
		return token.Position{}
	}
	line, err := strconv.Atoi(parts[len(parts)-1])
	if err != nil {
		return token.Position{}
	}
	if len(parts) > 2 {
		if first, err := strconv.Atoi(parts[len(parts)-2]); err == nil {
			return token.Position{Filename: strings.Join(parts[:len(parts)-2], ":"), Line: first, Column: line}
		}
	}
	return token.Position{Filename: strings.Join(parts[:len(parts)-1], ":"), Line: line}
}
