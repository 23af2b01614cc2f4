package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var updateGolden = flag.Bool("update-golden", false, "write the .golden files of the fixes instead of comparing with them")

// Each form of fix has its expected output on file, beside its source.
func TestFixGolden(t *testing.T) {
	testdata, err := filepath.Abs("../../lint/testdata/fixes")
	if err != nil {
		t.Fatal(err)
	}
	dir := module(t, "fixes")
	before := sources(t, dir)
	runLint(t, "-fix", "./forms/...")
	changed := 0
	for name, text := range sources(t, dir) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if before[name] == text {
			text = ""
		} else {
			changed++
		}
		compareGolden(t, filepath.Join(testdata, rel+".golden"), text)
	}
	if changed < 5 {
		t.Errorf("%d files were fixed, expected more", changed)
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
