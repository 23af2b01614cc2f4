package audit_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

func records() []audit.Record {
	return []audit.Record{
		{File: "a.go", Line: 3, Column: 2, Function: "f", Call: "w.Patch", Class: class.BlindMerge, Verdict: class.Fix, Reason: "blind <here>"},
		{File: "a.go", Line: 4, Column: 2, Function: "f", Call: "w.Update", Class: class.Update, Verdict: class.OK, Reason: "locked"},
		{File: "b.go", Line: 5, Column: 2, Function: "g", Call: "w.Patch", Class: class.Unknown, Verdict: class.NotKnown, Reason: "unseen", Partial: true},
	}
}

// Every format holds what it must: JSON all rows as they are, an empty list as an array; SARIF only what somebody should
// act on.
func TestWrite(t *testing.T) {
	for _, row := range []struct {
		format string
		has    []string
		not    []string
	}{
		{"json", []string{`"class": "blind-merge"`, "blind <here>", `"partial": true`}, []string{"&lt;", `\u003c`}},
		{"text", []string{"To fix", "a.go:3", "Counts", "b.go:5 *", "partial: the package does not type-check"}, []string{"###"}},
		{"markdown", []string{"### To fix", "| a.go:3 |"}, nil},
		{"sarif", []string{`"ruleId": "blind-merge"`, `"level": "error"`, `"level": "note"`, "docs/lint.md#blind-merge"}, []string{`"ruleId": "update"`}},
	} {
		var out bytes.Buffer
		if err := audit.Write(&out, row.format, records()); err != nil {
			t.Fatal(err)
		}
		for _, s := range row.has {
			if !strings.Contains(out.String(), s) {
				t.Errorf("%s lacks %q:\n%s", row.format, s, out.String())
			}
		}
		for _, s := range row.not {
			if strings.Contains(out.String(), s) {
				t.Errorf("%s contains %q", row.format, s)
			}
		}
	}
	var empty bytes.Buffer
	if err := audit.Write(&empty, "json", nil); err != nil || strings.TrimSpace(empty.String()) != "[]" {
		t.Errorf("no records are %q, %v; expected an empty array", empty.String(), err)
	}
	if err := audit.Write(&empty, "xml", nil); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("an unknown format is %v, expected an error that names the formats", err)
	}
}

// A row of the baseline covers one site, wherever its line has moved to.
func TestBaseline(t *testing.T) {
	name := filepath.Join(t.TempDir(), "audit.json")
	data, err := json.Marshal(records())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := audit.ReadBaseline(name)
	if err != nil {
		t.Fatal(err)
	}
	r := records()[0]
	r.Line = 99
	if !b.Take(r) || b.Take(r) {
		t.Error("one row covers its site once, at any line")
	}
	r = records()[1]
	r.Class = class.BlindUpdate
	if b.Take(r) {
		t.Error("a row covers a site of another class")
	}
	if (*audit.Baseline)(nil).Take(r) {
		t.Error("no baseline covers something")
	}
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{name, name + ".missing"} {
		if _, err := audit.ReadBaseline(file); err == nil || !strings.Contains(err.Error(), "-audit -format=json") {
			t.Errorf("%v, expected an error that says how to make a baseline", err)
		}
	}
}

// A row names its function with the receiver, a variable that holds a literal, and the file as seen from the root.
func TestNew(t *testing.T) {
	p := enginetest.Check(t, `
type R struct{}
func write() {}
func (r *R) method() { func() { write() }() }
var command = struct{ run func() }{run: func() { write() }}
`)
	want := map[string]bool{"(*R).method": true, "var command": true}
	for _, f := range p.Funcs() {
		if f.Lit == nil {
			continue
		}
		r := audit.New(p.Fset, "", &class.Finding{Call: enginetest.Call(t, f, "write"), Fn: f, Pos: f.Body().Pos(), Class: class.BlindMerge})
		if !want[r.Function] || r.Call != "write" || r.Verdict != class.Fix {
			t.Errorf("%+v, expected one of %v", r, want)
		}
		delete(want, r.Function)
	}
	for name := range want {
		t.Errorf("no row for %s", name)
	}
	for name, rel := range map[string]string{"/m/a/b.go": "a/b.go", "/other/b.go": "/other/b.go"} {
		if got := audit.Relative("/m", name); got != rel {
			t.Errorf("%s is %s, expected %s", name, got, rel)
		}
	}
}
