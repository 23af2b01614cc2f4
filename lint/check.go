package lint

import (
	"go/ast"
	"go/token"
	"sort"
	"strings"

	"github.com/statuspatcher/statuspatcher/lint/class"
	"github.com/statuspatcher/statuspatcher/lint/flow"
	"github.com/statuspatcher/statuspatcher/lint/kube"
	"github.com/statuspatcher/statuspatcher/lint/site"
)

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
		name := pkg.Fset.File(f.FileStart).Name()
		if !c.opts.Tests && strings.HasSuffix(name, "_test.go") {
			continue
		}
		if !c.opts.Tests && site.IsTestSupport(f.Imports) {
			return nil
		}
		if !site.IsGenerated(f) {
			files = append(files, f)
		}
	}
	return files
}

// Findings are the classified sites of a package, in the order of the source.
func (c *Check) Findings(pkg *flow.Package) []*class.Finding {
	var out []*class.Finding
	for _, s := range c.sites[pkg] {
		out = append(out, c.classifier.Classify(s))
	}
	sortFindings(pkg.Fset, out)
	return out
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
