package lint_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
	"github.com/statuspatcher/statuspatcher/lint"
)

func TestWrappers(t *testing.T) {
	opts := &lint.Options{Ban: true, Wrappers: []string{
		"(*example.com/cells/wrappers.writer).patch", "example.com/cells/wrappers.save", "example.com/cells/wrappers.count",
		"(*example.com/cells/wrappers/status.Writer).Patch", "example.com/cells/wrappers/status.Update",
	}}
	analysistest.Run(t, fixture(t, "cells"), lint.New(opts), "./wrappers", "./wrappers/elsewhere")

	// With the whole program in sight the body is.
	m := load(t, "./wrappers/...")
	want := map[string]string{"elsewhere.patch": "blind-merge", "elsewhere.locked": "locked", "elsewhere.update": "update"}
	for at, class := range classes(m, check.Options(*opts)) {
		if want[at] != "" && want[at] != class {
			t.Errorf("%s is %s, expected %s", at, class, want[at])
		}
		delete(want, at)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// A wrong name is an error, and is not ignored.
func TestWrongWrappers(t *testing.T) {
	m := load(t, "./wrappers/...")
	for _, row := range []struct{ name, want string }{
		{"example.com/cells/wrappers.save", ""},
		{"example.com/cells/wrappers.sav", "has no function sav"},
		{"(*example.com/cells/wrappers.writer).pat", "has no method pat"},
		{"(*example.com/cells/wrappers.write).patch", "has no type write"},
		{"(example.com/cells/wrappers.writer).patch", "full name is (*example.com/cells/wrappers.writer).patch"},
		{"example.com/cells/wrappers/status.Updat", "has no function Updat"},
		{"save", "not the full name"},
		{"example.com/cells/nowhere.Save", "no package that was loaded is, or imports, example.com/cells/nowhere"},
	} {
		notes, err := check.Options{Wrappers: []string{row.name}}.CheckWrappers(m.Program)
		got := strings.Join(notes, "\n")
		if err != nil {
			got += err.Error()
		}
		if row.want == "" && got != "" || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, expected %q in it", row.name, got, row.want)
		}
	}
}

func load(t *testing.T, patterns ...string) *driver.Module {
	t.Helper()
	m, err := driver.Load{Dir: fixture(t, "cells"), Patterns: patterns}.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Problems {
		t.Error(p.Error())
	}
	return m
}

// classes are the classes of a module's sites by package and function.
func classes(m *driver.Module, opts check.Options) map[string]string {
	out := map[string]string{}
	for _, it := range m.Check(opts).Items {
		out[it.Package.Name+"."+it.Record.Function] = string(it.Record.Class)
	}
	return out
}
