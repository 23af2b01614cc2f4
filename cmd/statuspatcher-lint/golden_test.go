package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var updateGolden = flag.Bool("update-golden", false, "write the .golden files of the fixes instead of comparing with them")

// Each form of fix has its expected output on file, beside its source: .move.golden where code moves to the patcher,
// .lock.golden where a write has an option that patchers do not have, so that at most the lock is added.
func TestFixGolden(t *testing.T) {
	testdata, err := filepath.Abs("../../lint/testdata/fixes")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"move", "lock"} {
		t.Run(mode, func(t *testing.T) {
			dir := module(t, "fixes")
			if mode == "lock" {
				withoutPatchers(t, dir)
			}
			before := sources(t, dir)
			runLint(t, "-fix", "./forms/...", "./errorbranch")
			changed := 0
			for name, text := range sources(t, dir) {
				rel, err := filepath.Rel(dir, name)
				if err != nil {
					t.Fatal(err)
				}
				golden := filepath.Join(testdata, rel+"."+mode+".golden")
				if before[name] == text {
					text = ""
				} else {
					changed++
				}
				compareGolden(t, golden, text)
			}
			if changed < 5 {
				t.Errorf("%d files were fixed, expected more", changed)
			}
		})
	}
}

var patched = regexp.MustCompile(`(\.Status\(\)\.Patch\(ctx, \w+, (?:\w+|client\.MergeFrom\w*\([^()]*(?:\([^()]*\))?[^()]*\)))\)`)

// withoutPatchers keeps the fixes from finding the generated package: the writes get an option that patchers do not have.
func withoutPatchers(t *testing.T, dir string) {
	t.Helper()
	for name, text := range sources(t, dir) {
		text = patched.ReplaceAllString(text, "$1, client.FieldOwner(\"forms\"))")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compareGolden: an unchanged file has no golden one.
func compareGolden(t *testing.T, golden, text string) {
	t.Helper()
	if *updateGolden {
		if text == "" {
			_ = os.Remove(golden) // it may never have been there
		} else if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s differs from what -fix makes; with -update-golden the test writes it:\n%s", golden, text)
	}
}
