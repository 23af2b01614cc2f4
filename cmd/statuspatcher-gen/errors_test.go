package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestErrors runs the generator on each wrong input of testdata/errors. The first line of an archive is the command, the file
// want.stderr what it must print. Whatever is wrong, nothing is written and nothing is lost.
func TestErrors(t *testing.T) {
	archives, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testError(t, name)
		})
	}
}

func testError(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	command, _, _ := strings.Cut(string(archive.Comment), "\n")
	args := strings.Fields(command)
	if len(args) == 0 || args[0] != "statuspatcher-gen" {
		t.Fatalf("the first line is %q: want statuspatcher-gen and its arguments", command)
	}
	m := newModule(t, archive.Files)
	before := m.tree()
	exit, stdout, stderr := m.generate(args[1:]...)
	if diff := cmp.Diff(before, m.tree()); diff != "" {
		t.Errorf("the run changed files (-before +after):\n%s", diff)
	}
	if stdout != "" {
		t.Errorf("stdout is %q: want errors on stderr", stdout)
	}
	want := exitWrong
	if strings.Contains(string(archive.Comment), "\nwrong use\n") {
		want = exitUsage
	}
	if exit != want {
		t.Errorf("exit status %d: want %d", exit, want)
	}
	checkGolden(t, name, archive, "want.stderr", stderr)
}

// checkGolden compares with a file of the archive, or with -update writes it.
func checkGolden(t *testing.T, name string, archive *txtar.Archive, file, got string) {
	t.Helper()
	if *update {
		setFile(archive, file, got)
		writeArchive(t, name, archive)
		return
	}
	for _, f := range archive.Files {
		if f.Name == file {
			if diff := cmp.Diff(string(f.Data), got); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", file, diff)
			}
			return
		}
	}
	t.Errorf("the archive has no %s: run the test with -update and read what it wrote", file)
}
