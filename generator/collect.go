package generator

import (
	"errors"
	"go/parser"
	goscanner "go/scanner"
	"go/token"
	"golang.org/x/tools/go/packages"
	"os"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// A wanted is a kind to generate for, before its types are known.
type wanted struct {
	pkg  *loader.Package
	name string
	// pos is the marker, or for types= nothing.
	pos token.Position
	// markable tells that the kind was found by a marker: then its subresource must be declared too.
	markable bool
}

// A collector finds out what is asked for in the packages of one load.
type collector struct {
	fset   *token.FileSet
	faults *faults
	prune  *pruner
	wanted []wanted
	// markers counts what was found, right or wrong, marked true or false.
	markers int
}

// markedKinds reads the markers of a package.
func (c *collector) markedKinds(pkg *loader.Package) {
	s := c.prune.source(pkg)
	for _, err := range s.errors {
		c.syntax(err)
	}
	m := &marked{fset: c.fset, faults: c.faults, registry: MarkerRegistry(), requests: requests{types: map[string]request{}}}
	for _, file := range s.files {
		m.scanFile(file.File)
	}
	c.leftOut(pkg)
	c.markers += m.count
	names := map[string]token.Pos{}
	if m.pack.IsValid() {
		for _, name := range m.subresources {
			names[name] = m.pack
		}
		if len(m.subresources) == 0 && len(c.faults.list) == 0 {
			m.fault(m.pack, "no kind of package %s has a status subresource: write // +kubebuilder:subresource:status above each that has one", pkg.Name)
		}
	}
	for name, r := range m.types {
		if r.generate {
			names[name] = r.pos
		} else {
			delete(names, name)
		}
	}
	for name, pos := range names {
		c.wanted = append(c.wanted, wanted{pkg: pkg, name: name, pos: c.fset.Position(pos), markable: true})
		c.prune.keepKind(s, name)
	}
}

// leftOut reports markers in files that build constraints leave out.
func (c *collector) leftOut(pkg *loader.Package) {
	for _, name := range pkg.IgnoredFiles {
		content, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(name, ".go") || ours(content) || !maybeMarked(content) {
			continue
		}
		file, _ := parser.ParseFile(c.fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		for _, l := range lines(file.Comments...) {
			if judge(l.text) == ok {
				c.faults.at(c.fset.Position(l.pos), "build constraints leave this file out, and %s with it: give its build tags with tags=, or remove the line", l.text)
			}
		}
	}
}

// namedKinds wants the kinds of types=.
func (c *collector) namedKinds(pkgs []*loader.Package, names []string) {
	for _, name := range names {
		path, kind := splitType(name)
		at := slices.IndexFunc(pkgs, func(pkg *loader.Package) bool { return pkg.PkgPath == path })
		if at < 0 || len(pkgs[at].CompiledGoFiles) == 0 {
			c.faults.add("types=%s: no package %s: run go get %s", name, path, path)
			continue
		}
		s := c.prune.source(pkgs[at])
		if d := s.decls[kind]; d == nil || d.spec == nil {
			c.faults.add("types=%s: package %s has no type %s", name, path, kind)
			continue
		}
		c.markers++
		c.wanted = append(c.wanted, wanted{pkg: pkgs[at], name: kind, pos: c.fset.Position(s.decls[kind].spec.Pos())})
		c.prune.keepKind(s, kind)
	}
}

// resolve type-checks what was collected and turns it into kinds.
func (c *collector) resolve() []kind {
	c.prune.finish()
	checker := &loader.TypeChecker{}
	r := &resolver{fset: c.fset, faults: c.faults, prune: c.prune}
	for _, w := range c.wanted {
		checker.Check(w.pkg)
	}
	c.typeErrors()
	var out []kind
	for _, w := range c.wanted {
		if k, ok := r.resolve(w); ok {
			out = append(out, k)
		}
	}
	return out
}

// typeErrors reports what does not compile among the types that were kept, and the imports that are the cause.
func (c *collector) typeErrors() {
	for pkg, s := range c.prune.sources {
		broken := slices.ContainsFunc(pkg.Errors, func(e packages.Error) bool { return e.Kind == packages.TypeError })
		if !broken {
			continue
		}
		for _, e := range pkg.Errors {
			c.faults.at(position(e.Pos), "%s", e.Msg)
		}
		for _, err := range s.errors {
			c.syntax(err)
		}
	}
}

// syntax reports an error of reading or parsing.
func (c *collector) syntax(err error) {
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
