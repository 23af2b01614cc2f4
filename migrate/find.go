package migrate

import (
	"go/ast"
	"go/types"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/directive"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// A write is a handwritten status write, with what the lint rule thinks of it.
type write struct {
	*site.Site
	finding *class.Finding
	pkg     *flow.Package
}

// static is the kind that the type of the written expression names; nil for an interface or a type parameter.
func (w *write) static() *types.Named {
	obj := w.Object()
	if obj == nil {
		return nil
	}
	t := w.Fn.Pkg.TypeOf(obj)
	if t == nil || types.IsInterface(t) {
		return nil
	}
	n := kube.Named(t)
	if n == nil || kube.AnyKind(n) || kube.StatusField(n) == nil || !kube.IsObject(t) {
		return nil
	}
	return n
}

// findWrites finds the status writes of the program, without those of tests and generated code.
func findWrites(prog *flow.Program) ([]*write, *class.Classifier) {
	var sites []*site.Site
	owner := map[*site.Site]*flow.Package{}
	for _, pkg := range prog.Packages {
		if !kube.Relevant(pkg.Types) {
			continue
		}
		for _, s := range site.Find(pkg, productionFiles(pkg), nil) {
			sites = append(sites, s)
			owner[s] = pkg
		}
	}
	classifier := class.New(sites)
	var out []*write
	for _, s := range sites {
		if s.Status && s.Writer != kube.Generated {
			out = append(out, &write{Site: s, finding: classifier.Classify(s), pkg: owner[s]})
		}
	}
	allow(out)
	sortWrites(out)
	return out, classifier
}

func productionFiles(pkg *flow.Package) []*ast.File {
	var files []*ast.File
	for _, f := range pkg.Files {
		if !site.IsGenerated(f) && !site.IsTest(pkg.Fset, f) {
			files = append(files, f)
		}
	}
	return files
}

// allow marks the writes that a directive of the lint rule allows: they stay as they are.
func allow(writes []*write) {
	byPackage := map[*flow.Package][]*class.Finding{}
	for _, w := range writes {
		byPackage[w.pkg] = append(byPackage[w.pkg], w.finding)
	}
	for pkg, findings := range byPackage {
		var ds []*directive.Directive
		for _, f := range productionFiles(pkg) {
			ds = append(ds, directive.Parse(pkg.Fset, f)...)
		}
		directive.Apply(pkg.Fset, ds, findings)
	}
}

func sortWrites(writes []*write) {
	sort.SliceStable(writes, func(i, j int) bool {
		a, b := writes[i].pkg.Fset.Position(writes[i].Node.Pos()), writes[j].pkg.Fset.Position(writes[j].Node.Pos())
		if a.Filename != b.Filename {
			return a.Filename < b.Filename
		}
		return a.Offset < b.Offset
	})
}
