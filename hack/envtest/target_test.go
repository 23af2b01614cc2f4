package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// finished returns a target whose directory looks as a finished build leaves it.
func finished(t *testing.T) *target {
	t.Helper()
	tg := &target{dir: t.TempDir(), stamp: "sources\n"}
	for _, name := range binaries {
		write(t, filepath.Join(tg.dir, name), "binary")
	}
	write(t, filepath.Join(tg.dir, stampFile), tg.stamp)
	return tg
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCurrent(t *testing.T) {
	if !finished(t).current() {
		t.Error("a finished build would be built again")
	}
	broken := map[string]func(*target){
		"a binary is missing":          func(tg *target) { _ = os.Remove(filepath.Join(tg.dir, "kube-apiserver")) },
		"the stamp is missing":         func(tg *target) { _ = os.Remove(filepath.Join(tg.dir, stampFile)) },
		"built from other sources":     func(tg *target) { tg.stamp = "other sources\n" },
		"the stamp was cut in writing": func(tg *target) { write(t, filepath.Join(tg.dir, stampFile), "sour") },
	}
	for name, breakIt := range broken {
		t.Run(name, func(t *testing.T) {
			tg := finished(t)
			breakIt(tg)
			if tg.current() {
				t.Error("taken for a finished build")
			}
		})
	}
}

func TestUnfinishedBuildsAreRemoved(t *testing.T) {
	tg := finished(t)
	if err := os.Mkdir(filepath.Join(tg.dir, ".build-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tg.dir, ".build-1", "etcd"), "half")
	if err := tg.removeUnfinished(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(tg.dir, unfinished)); len(left) != 0 {
		t.Errorf("left %s", left)
	}
	if !tg.current() {
		t.Error("the finished build is damaged")
	}
}

func TestDirectoryMustBeNamedAfterTheVersion(t *testing.T) {
	tg, err := newTarget(filepath.Join(t.TempDir(), "1.2.3"))
	if err == nil || !strings.Contains(err.Error(), "expected a directory named 1.") {
		t.Errorf("got %v, %v", tg, err)
	}
}

func TestAssetsOfTheUserAreNotBuiltAgain(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "/assets")
	var said bytes.Buffer
	dir := filepath.Join(t.TempDir(), "any name")
	if err := run(dir, &progress{out: &said}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestPackagesAreCountedAndErrorsKept(t *testing.T) {
	var said, kept bytes.Buffer
	out := (&progress{out: &said, terminal: true}).packages("etcd", &kept)
	for _, part := range []string{"go.uber.org/z", "ap\n# example.com/x\nx.go:1:2: unde", "fined: y\nnet/http\n"} {
		if _, err := io.WriteString(out, part); err != nil {
			t.Fatal(err)
		}
	}
	if want := "# example.com/x\nx.go:1:2: undefined: y\n"; kept.String() != want {
		t.Errorf("kept %q, want %q", kept.String(), want)
	}
	if want := "2 packages compiled, now net/http"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("said %q, want it to end with %q", said.String(), want)
	}
}
