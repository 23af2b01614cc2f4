package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A module that is missing costs the packages that import it, not the others.
func TestMissingModule(t *testing.T) {
	dir := module(t, "cells")
	src := "package updates\n\nimport \"example.com/nowhere/missing\"\n\nvar _ = missing.Thing\n"
	if err := os.WriteFile(filepath.Join(dir, "updates", "missing.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runLint(t, "-audit", "-format=json", "./updates", "./blindmerge")
	if code != exitFailed {
		t.Errorf("exit code %d, expected %d", code, exitFailed)
	}
	for _, want := range []string{"example.com/cells/updates could not be analysed in full", "example.com/nowhere/missing"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	partial, whole := 0, 0
	for _, r := range records(t, stdout) {
		if strings.HasPrefix(r.File, "updates/") != r.Partial {
			t.Errorf("partial is %v: %+v", r.Partial, r)
		}
		if r.Partial {
			partial++
		} else {
			whole++
		}
	}
	if partial == 0 || whole == 0 {
		t.Errorf("%d rows of the package that lacks a module, %d of the other: expected some of both", partial, whole)
	}
}

// A wrapper that does not exist is an error, one of which nothing was loaded a note.
func TestWrongWrapper(t *testing.T) {
	module(t, "cells")
	for _, row := range []struct {
		wrapper, stderr string
		code            int
	}{
		{"example.com/cells/wrappers/status.Updat", "has no function Updat", exitFailed},
		{"Updat", "not the full name of a function", exitFailed},
		{"example.com/elsewhere.Update", "no package that was loaded is, or imports, example.com/elsewhere", exitClean},
	} {
		code, _, stderr := runLint(t, "-audit", "-wrappers="+row.wrapper, "./wrappers/status")
		if code != row.code || !strings.Contains(stderr, row.stderr) {
			t.Errorf("%s: exit code %d, expected %d; stderr, expected %q in it:\n%s", row.wrapper, code, row.code, row.stderr, stderr)
		}
	}
}
