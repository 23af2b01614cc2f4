package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// A test that patcher.Wrap breaks is noticed, unless corpus.json expects it.
func TestATestThatWrapBreaksIsNoticed(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	operator := trial{
		project: project{
			Name: "operator", Module: "example.com/operator@v0.0.0",
			Kinds: map[string][]string{"example.com/operator/api": {"Widget"}}, Tests: []string{"controller"},
		},
		root: root, dir: unpack(t, "operator"),
	}
	got, err := operator.try(t.Context(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	const broken = "controller TestBlindWritersCoexist"
	if bare, locked := got.bare.count("pass"), got.wrapped.count("pass"); bare != 2 || locked != 1 {
		t.Errorf("%d tests pass bare, and %d behind Lock; expected 2 and 1", bare, locked)
	}
	if locked, sites := got.sum("locked", "blind-merge"), len(got.events); locked != 4 || sites != 1 {
		t.Errorf("%d blind patches locked, at %d places: %v", locked, sites, got.events)
	}
	var out strings.Builder
	if err := report(&out, []outcome{got}); err == nil || !strings.Contains(out.String(), broken+": pass -> fail: NOT EXPECTED") {
		t.Errorf("the report returns %v, and prints\n%s", err, &out)
	}
	got.Changed = map[string]string{broken: "the test asserts that blind writers coexist"}
	if err := report(&out, []outcome{got}); err != nil {
		t.Errorf("control: what is expected is reported as %v", err)
	}

	operator.resume = true
	got, err = operator.try(t.Context(), "report")
	if err != nil {
		t.Fatal(err)
	}
	if changes, sent := got.changes(), got.sum("sent", "blind-merge"); len(changes) != 0 || sent != 4 {
		t.Errorf("control: behind Report %v changed, and %d blind patches were sent; expected none, and 4", changes, sent)
	}
}

// unpack writes a copy of an operator, as if it had been fetched.
func unpack(t *testing.T, name string) (dir string) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), name)
	files := append(archive.Files, txtar.File{Name: ".fetched", Data: []byte("example.com/" + name + "@v0.0.0")})
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
