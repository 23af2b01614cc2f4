// Package check runs the rule over a program: it finds the status writes, gives each its class, and suggests fixes.
package check

import (
	"go/ast"
	"go/token"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/directive"
	"github.com/statuspatcher/statuspatcher/internal/lint/fix"
	"github.com/statuspatcher/statuspatcher/internal/lint/patchers"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// Name is the analyzer's name.
const Name = "statuspatcher"

// A Check looks at packages of one program. It is for one goroutine.
type Check struct {
	opts       Options
	sites      map[*flow.Package][]*site.Site
	classifier *class.Classifier
}

// NewCheck finds the writes of all packages, so that each can be judged with its callers in sight.
func NewCheck(prog *flow.Program, opts Options) *Check {
	c := &Check{opts: opts, sites: map[*flow.Package][]*site.Site{}}
	var all []*site.Site
	for _, pkg := range prog.Packages {
		if !kube.Relevant(pkg.Types) {
			continue
		}
		found := site.Find(pkg, c.files(pkg), opts.Wrappers)
		c.sites[pkg] = found
		all = append(all, found...)
	}
	c.classifier = class.New(all)
	return c
}

// files are the files of a package that are looked at.
func (c *Check) files(pkg *flow.Package) []*ast.File {
	var files []*ast.File
	for _, f := range pkg.Files {
		if site.IsGenerated(f) || !c.opts.Tests && site.IsTest(pkg.Fset, f) {
			continue
		}
		files = append(files, f)
	}
	return files
}

// Findings are the classified sites of a package and what is wrong with its patchers, in the order of the source, and
// the directives that are no good.
func (c *Check) Findings(pkg *flow.Package) ([]*class.Finding, []*directive.Directive) {
	files := c.files(pkg)
	var out []*class.Finding
	for _, s := range c.sites[pkg] {
		f := c.classifier.Classify(s)
		if s.Writer == kube.Main && s.Verb == kube.Update && f.Class == class.Spec {
			continue // an ordinary update of the main resource is nobody's concern here
		}
		out = append(out, f)
	}
	if kube.UsesPatchers(pkg.Types) {
		out = append(out, c.aboutPatchers(pkg, files)...)
	}
	out = onePerSite(out)
	sortFindings(pkg.Fset, out)
	var ds []*directive.Directive
	for _, file := range files {
		ds = append(ds, directive.Parse(pkg.Fset, file)...)
	}
	directive.Apply(pkg.Fset, ds, out)
	fix.Suggest(out, c.classifier.Tracker())
	return out, ds
}

func (c *Check) aboutPatchers(pkg *flow.Package, files []*ast.File) []*class.Finding {
	var out []*class.Finding
	for _, f := range pkg.Funcs() {
		if f.Skipped() {
			continue
		}
		for _, file := range files {
			if file.FileStart <= f.Node().Pos() && f.Node().End() <= file.FileEnd {
				out = append(out, patchers.Find(f, c.classifier.Tracker())...)
			}
		}
	}
	return out
}

// onePerSite keeps one finding a call: what goes on behind a patcher's back outweighs a class that is not wrong itself.
func onePerSite(fs []*class.Finding) []*class.Finding {
	best := map[ast.Node]*class.Finding{}
	for _, f := range fs {
		if b := best[f.Node()]; b == nil || f.Class.Before(b.Class) {
			best[f.Node()] = f
		}
	}
	var out []*class.Finding
	for _, f := range fs {
		if best[f.Node()] == f {
			out = append(out, f)
		}
	}
	return out
}

// Reported says whether the lint reports a finding, as opposed to the audit, which lists all.
func (o Options) Reported(f *class.Finding) bool {
	switch f.Verdict() {
	case class.Fix:
		return true
	case class.OK, class.NotKnown:
		return o.Ban && f.Class != class.Generated
	}
	return false
}

func sortFindings(fset *token.FileSet, fs []*class.Finding) {
	sort.SliceStable(fs, func(i, j int) bool {
		a, b := fset.Position(fs[i].Pos), fset.Position(fs[j].Pos)
		if a.Filename != b.Filename {
			return a.Filename < b.Filename
		}
		return a.Offset < b.Offset
	})
}
