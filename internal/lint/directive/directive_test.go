package directive_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/directive"
)

// A directive needs a class that exists and a reason.
func TestParse(t *testing.T) {
	p := enginetest.Check(t, `
//statuspatcher:allow blind-merge -- only writer
func ok() {}
//statuspatcher:allow blind-merge
func noReason() {}
//statuspatcher:allow blind-merge --
func emptyReason() {}
//statuspatcher:allow blind-murge -- typo
func noClass() {}
//statuspatcher:allow -- nothing
func nothing() {}
//statuspatcher:alow blind-merge -- typo
func noVerb() {}
// statuspatcher:allow blind-merge -- a comment like any other
func comment() {}
`)
	want := []string{"", "without a reason", "without a reason", "which is not a class", "names no class", "unknown directive"}
	ds := directive.Parse(p.Fset, p.Files[0])
	if len(ds) != len(want) {
		t.Fatalf("%d directives, expected %d", len(ds), len(want))
	}
	for i, d := range ds {
		if (want[i] == "") != (d.Problem == "") || !strings.Contains(d.Problem, want[i]) {
			t.Errorf("directive %d: %q, expected %q", i, d.Problem, want[i])
		}
	}
	if ds[0].Class != class.BlindMerge || ds[0].Reason != "only writer" {
		t.Errorf("%s for the reason %q, expected blind-merge for the only writer", ds[0].Class, ds[0].Reason)
	}
}

// A directive allows its class in its function, or at its statement and the line above; nothing else.
func TestApply(t *testing.T) {
	p := enginetest.Check(t, `
func write() error { return nil }

//statuspatcher:allow blind-merge -- function
func function() { write(); if true { write() } }

func above() {
	//statuspatcher:allow blind-merge -- above
	write()
	write()
}
func beside() {
	if err := write(); err != nil { //statuspatcher:allow blind-merge -- beside
		write()
	}
}
func otherClass() {
	write() //statuspatcher:allow stale-base -- other
}
func wide() {
	//statuspatcher:allow blind-merge -- wide
	_ = []error{
		write(),
	}
}
`)
	var fs []*class.Finding
	for _, f := range p.Funcs() {
		ast.Inspect(f.Body(), func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				fs = append(fs, &class.Finding{Call: call, Fn: f, Pos: call.Pos(), End: call.End(), Class: class.BlindMerge})
			}
			return true
		})
	}
	ds := directive.Parse(p.Fset, p.Files[0])
	directive.Apply(p.Fset, ds, fs)
	got := map[string]int{}
	for _, f := range fs {
		if f.Allowed != "" {
			got[f.Fn.Decl.Name.Name+" "+f.Allowed]++
		}
	}
	want := map[string]int{"function function": 2, "above above": 1, "beside beside": 1, "wide wide": 1}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%q is allowed %d times, expected %d", k, got[k], n)
		}
		delete(got, k)
	}
	for k := range got {
		t.Errorf("%q is allowed, expected not", k)
	}
	for _, d := range ds {
		if d.Used != (d.Reason != "other") {
			t.Errorf("the directive %q: used is %v", d.Reason, d.Used)
		}
	}
}
