package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// What a fix comes to is loaded again before it is written. A fix that is spoilt by hand is not made.
func TestFixIsCheckedAgain(t *testing.T) {
	t.Setenv("GOWORK", "off")
	const place = "	cell.Status.Phase = \"Planned\"\n"
	for _, row := range []struct{ name, spoil, reason string }{
		{name: "control"},
		{"does not compile", "undefined()\n", "undefined: undefined"},
	} {
		t.Run(row.name, func(t *testing.T) {
			load := Load{Dir: filepath.FromSlash("../../../lint/testdata/fixes"), Patterns: []string{"./forms/baselocal"}}
			m, err := load.Run()
			if err != nil {
				t.Fatal(err)
			}
			items := m.Check(check.Options{}).Reported(check.Options{})
			if len(items) != 1 || safeFix(items[0].Finding) == nil {
				t.Fatalf("%d findings, expected one that can be fixed", len(items))
			}
			spoil(t, m, items[0].Finding, place, row.spoil)
			fixed, err := m.Fix(load, items)
			if err != nil {
				t.Fatal(err)
			}
			if row.spoil == "" {
				if len(fixed.Files) != 1 || len(fixed.Failed) != 0 || !fixed.Done[items[0].Finding] {
					t.Errorf("%d files, failed %v", len(fixed.Files), fixed.Failed)
				}
				return
			}
			if len(fixed.Files) != 0 || len(fixed.Failed) != 1 || fixed.Done[items[0].Finding] {
				t.Fatalf("%d files, failed %v", len(fixed.Files), fixed.Failed)
			}
			if text := strings.Join(fixed.Failed[0].Errors, "\n"); !strings.Contains(text, row.reason) {
				t.Errorf("failed with %q, expected %q in it", text, row.reason)
			}
		})
	}
}

// spoil adds text to the fix, before the line at place.
func spoil(t *testing.T, m *Module, f *class.Finding, place, text string) {
	t.Helper()
	file := m.Fset.File(f.Pos)
	src, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(src), place)
	if at < 0 {
		t.Fatalf("no %q in %s", place, file.Name())
	}
	fix := safeFix(f)
	fix.Edits = append(fix.Edits, class.Edit{Pos: file.Pos(at), End: file.Pos(at), Text: text})
}
