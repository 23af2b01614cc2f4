package driver

import (
	"fmt"
	"go/token"
	"sort"

	"golang.org/x/tools/go/packages"

	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/directive"
)

// An Item is a finding with its row.
type Item struct {
	Package *packages.Package
	Finding *class.Finding
	Record  audit.Record
}

// A Result is all that was found in a module.
type Result struct {
	Items      []Item
	Directives []Directive // that are no good
}

// A Directive is a comment that suppresses nothing, or has no reason.
type Directive struct {
	Package *packages.Package
	*directive.Directive
	Message string
}

// Check classifies every site of the module, each with all callers of the module in sight.
func (m *Module) Check(opts check.Options) *Result {
	c := check.NewCheck(m.Program, opts)
	broken := map[string]bool{}
	for _, p := range m.Problems {
		broken[p.Package] = true
	}
	res := &Result{}
	seen := map[string]bool{} // with tests, a file is in several variants of its package
	for _, p := range m.Packages {
		fs, ds := c.Findings(m.Flow[p])
		for _, f := range fs {
			pos := m.Fset.Position(f.Pos).String()
			if seen[pos] {
				continue
			}
			seen[pos] = true
			r := audit.New(m.Fset, m.Root, f)
			r.Partial = broken[p.PkgPath]
			res.Items = append(res.Items, Item{p, f, r})
		}
		for _, d := range ds {
			at := m.Fset.Position(d.Pos).String()
			if text := check.Problem(d); text != "" && !seen["directive "+at] {
				seen["directive "+at] = true
				res.Directives = append(res.Directives, Directive{p, d, text})
			}
		}
	}
	sort.SliceStable(res.Items, func(i, j int) bool {
		a, b := res.Items[i].Record, res.Items[j].Record
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return res
}

// Without drops what the baseline covers.
func (r *Result) Without(b *audit.Baseline) {
	if b == nil {
		return
	}
	var left []Item
	for _, it := range r.Items {
		if !b.Take(it.Record) {
			left = append(left, it)
		}
	}
	r.Items = left
}

// Reported are the items that the lint reports.
func (r *Result) Reported(opts check.Options) []Item {
	var out []Item
	for _, it := range r.Items {
		if opts.Reported(it.Finding) {
			out = append(out, it)
		}
	}
	return out
}

// Line is a finding as compilers print errors, with its related places below.
func Line(m *Module, it Item) string {
	s := m.Position(it.Finding.Pos) + ": " + check.Diagnostic(it.Finding).Message
	if it.Record.Partial {
		s += " (partial: the package does not type-check)"
	}
	for _, r := range it.Finding.Related {
		s += "\n\t" + m.Position(r.Pos) + ": " + r.Message
	}
	return s + m.suggestion(it)
}

// suggestion is a line about the fix of a finding: -fix applies it, or the place that somebody must look at first. Empty
// without one.
func (m *Module) suggestion(it Item) string {
	if safe := safeFix(it.Finding); safe != nil {
		return "\n\tfix: " + safe.Message + " (-fix does)"
	}
	text := ""
	for _, fix := range it.Finding.Fixes {
		text += "\n\tnot fixed: " + fix.Message + ": " + m.doubt(fix)
	}
	return text
}

// doubt is why a fix is not made, with the place that decides.
func (m *Module) doubt(fix class.FixEdit) string {
	if !fix.DoubtPos.IsValid() {
		return fix.Doubt
	}
	return m.Position(fix.DoubtPos) + ": " + fix.Doubt
}

// Position is a place as seen from the directory that was loaded.
func (m *Module) Position(pos token.Pos) string {
	p := m.Fset.Position(pos)
	p.Filename = audit.Relative(m.Dir, p.Filename)
	return p.String()
}

// Records are the rows of all items.
func (r *Result) Records() []audit.Record {
	var out []audit.Record
	for _, it := range r.Items {
		out = append(out, it.Record)
	}
	return out
}

// Error says why a package was analysed only in part.
func (p Problem) Error() string {
	msg := fmt.Sprintf("%s could not be analysed in full; what follows for it is partial:", p.Package)
	for i, e := range p.Errors {
		if i == 5 {
			msg += fmt.Sprintf("\n\tand %d more errors", len(p.Errors)-i)
			break
		}
		msg += "\n\t" + e
	}
	return msg
}
