package check

import (
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/directive"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// Diagnose reports what is wrong in one package, with no callers in sight but its own. The error says which options are
// wrong.
func Diagnose(pkg *flow.Package, opts Options) ([]analysis.Diagnostic, error) {
	if !kube.Relevant(pkg.Types) {
		return nil, nil
	}
	if !opts.Tests {
		pkg.Skip = site.TestCode(pkg)
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
	d := analysis.Diagnostic{Pos: f.Pos, End: f.End, Category: string(f.Class), Message: fmt.Sprintf("%s: %s", f.Class, f.Reason), URL: class.URL(f.Class)}
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
