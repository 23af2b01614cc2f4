package lint

import (
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/statuspatcher/statuspatcher/lint/class"
	"github.com/statuspatcher/statuspatcher/lint/directive"
	"github.com/statuspatcher/statuspatcher/lint/flow"
	"github.com/statuspatcher/statuspatcher/lint/kube"
)

// Name is the analyzer's name, for vet tools and golangci-lint alike.
const Name = "statuspatcher"

const url = "https://pkg.go.dev/github.com/statuspatcher/statuspatcher/lint"

// Analyzer reports the status writes that are wrong; its flags are the fields of Options.
var Analyzer = New(&Options{})

// New makes an analyzer. It reads the options when it runs, so a command line may still set them.
func New(opts *Options) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: Name,
		Doc:  Doc,
		URL:  url,
		// Packages with errors are analysed as far as they go. No other analyzer is required and no fact: either would
		// make drivers load the syntax of every dependency.
		RunDespiteErrors: true,
	}
	opts.Register(&a.Flags)
	a.Run = func(pass *analysis.Pass) (any, error) {
		return nil, run(pass, *opts)
	}
	return a
}

func run(pass *analysis.Pass, opts Options) error {
	ds, err := Diagnose(&flow.Package{Fset: pass.Fset, Files: pass.Files, Types: pass.Pkg, Info: pass.TypesInfo}, opts)
	for _, d := range ds {
		pass.Report(d)
	}
	return err
}

// Diagnose reports what is wrong in one package, with no callers in sight but its own. The error says which options are
// wrong.
func Diagnose(pkg *flow.Package, opts Options) ([]analysis.Diagnostic, error) {
	if !kube.Relevant(pkg.Types) {
		return nil, nil
	}
	prog := flow.New(pkg)
	if _, err := opts.CheckWrappers(prog); err != nil {
		return nil, err
	}
	check := NewCheck(prog, opts)
	findings, directives := check.Findings(pkg)
	var out []analysis.Diagnostic
	for _, f := range findings {
		if opts.Reported(f) {
			out = append(out, Diagnostic(f))
		}
	}
	for _, d := range directives {
		if p := Problem(d); p != "" {
			out = append(out, analysis.Diagnostic{Pos: d.Pos, Category: "directive", Message: p})
		}
	}
	return out, nil
}

// Diagnostic is a finding in the terms of go/analysis: its category is the class.
func Diagnostic(f *class.Finding) analysis.Diagnostic {
	d := analysis.Diagnostic{Pos: f.Pos, End: f.End, Category: string(f.Class), Message: fmt.Sprintf("%s: %s", f.Class, f.Reason), URL: url + "#" + string(f.Class)}
	for _, r := range f.Related {
		d.Related = append(d.Related, analysis.RelatedInformation{Pos: r.Pos, Message: r.Message})
	}
	for _, fix := range f.Fixes {
		sf := analysis.SuggestedFix{Message: fix.Message}
		for _, e := range fix.Edits {
			sf.TextEdits = append(sf.TextEdits, analysis.TextEdit{Pos: e.Pos, End: e.End, NewText: []byte(e.Text)})
		}
		if fix.Safe {
			d.SuggestedFixes = append(d.SuggestedFixes, sf)
		}
	}
	return d
}

// Problem is what is wrong with a directive: it is malformed, or it suppresses nothing. Empty if nothing is.
func Problem(d *directive.Directive) string {
	switch {
	case d.Problem != "":
		return d.Problem
	case !d.Used:
		return fmt.Sprintf("the directive allows %s, but there is no such finding here: remove it", d.Class)
	}
	return ""
}
