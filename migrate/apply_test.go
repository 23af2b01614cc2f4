package migrate_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/journal"
	"github.com/statuspatcher/statuspatcher/migrate"
)

// tree is the content of all files below a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[path] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestApply(t *testing.T) {
	dir := operator(t)
	left := 0
	for _, s := range plan(t, dir, "./...").Sites {
		if s.Verdict == migrate.Left {
			left++
		}
	}
	var notes bytes.Buffer
	p := plan(t, dir, "./...")
	if err := p.Apply(migrate.ApplyOptions{Force: true}, &notes); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "go", "vet", "./api/...", "./moved", ".")
	main := read(t, filepath.Join(dir, "main.go"))
	if !strings.Contains(main, "LeaderElection: true, // one at a time\n\t\tNewClient:      v1status.NewClient,\n") {
		t.Errorf("main.go:\n%s", main)
	}
	if !strings.Contains(notes.String(), "there are no RBAC markers: the role of the operator must allow get and patch on the status of Cell") {
		t.Errorf("notes: %s", notes.String())
	}
	after := tree(t, dir)

	t.Run("a second time, nothing changes", func(t *testing.T) {
		again := plan(t, dir, "./...")
		if c := again.Counts(); c.Moved != 0 || c.Left != left || len(again.Changes) != 0 {
			t.Errorf("%+v, %d changes, expected %d writes that are left and nothing else", c, len(again.Changes), left)
		}
		if err := again.Apply(migrate.ApplyOptions{Force: true}, &notes); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(tree(t, dir), after) {
			t.Error("the files have changed")
		}
	})
}

// Whatever goes wrong, the files are as they were.
func TestApplyIsAllOrNothing(t *testing.T) {
	t.Run("the generator fails", func(t *testing.T) {
		dir := operator(t)
		types := filepath.Join(dir, "api", "v1", "types.go")
		write(t, types, strings.Replace(read(t, types), "json:\"phase,omitempty\"", "json:\"phase,omitempty\" +", 1))
		write(t, filepath.Join(dir, "api", "v1", "other.go"), "package v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// +kubebuilder:subresource:status\ntype Broken struct{ metav1.TypeMeta }\n")
		before := tree(t, dir)
		err := plan(t, dir, "./...").Apply(migrate.ApplyOptions{Force: true}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "generating the patchers of example.com/operator/api/v1") {
			t.Fatalf("Apply: %v, expected an error of the generator", err)
		}
		if !maps.Equal(tree(t, dir), before) {
			t.Error("the files have changed")
		}
	})
	t.Run("the runtime is not required", func(t *testing.T) {
		dir := operator(t)
		mod := filepath.Join(dir, "go.mod")
		write(t, mod, strings.Replace(read(t, mod), "\tgithub.com/statuspatcher/statuspatcher/patcher v0.0.0\n", "", 1))
		before := tree(t, dir)
		err := plan(t, dir, "./moved").Apply(migrate.ApplyOptions{Force: true}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "go get github.com/statuspatcher/statuspatcher/patcher@latest") {
			t.Fatalf("Apply: %v, expected what to run", err)
		}
		if !maps.Equal(tree(t, dir), before) {
			t.Error("the files have changed")
		}
	})
	t.Run("the work tree has changes", func(t *testing.T) {
		dir := operator(t)
		command(t, dir, "git", "init", "-q")
		command(t, dir, "git", "add", "-A")
		command(t, dir, "git", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "base")
		write(t, filepath.Join(dir, "main.go"), read(t, filepath.Join(dir, "main.go"))+"\n// edited\n")
		before := tree(t, dir)
		err := plan(t, dir, "./moved").Apply(migrate.ApplyOptions{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "main.go") || !strings.Contains(err.Error(), "-force") {
			t.Fatalf("Apply: %v, expected the changed file", err)
		}
		after := tree(t, dir)
		for name := range after {
			if strings.Contains(name, "/.git/") {
				delete(after, name)
				delete(before, name)
			}
		}
		if !maps.Equal(after, before) {
			t.Error("the files have changed")
		}
	})
	t.Run("an interrupted run is put back by the next", func(t *testing.T) {
		dir := operator(t)
		before := tree(t, dir)
		j, err := journal.Begin(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Write(filepath.Join(dir, "main.go"), []byte("package main\n")); err != nil {
			t.Fatal(err)
		}
		if maps.Equal(tree(t, dir), before) {
			t.Fatal("nothing was interrupted: the test proves nothing")
		}
		if recovered, err := migrate.Recover(filepath.Join(dir, "moved")); err != nil || !recovered {
			t.Fatalf("Recover: %v, %v", recovered, err)
		}
		if !maps.Equal(tree(t, dir), before) {
			t.Error("the files are not as they were")
		}
	})
}

// Without -only's package, kind or function a write stays.
func TestOnly(t *testing.T) {
	dir := operator(t)
	for only, want := range map[string]int{"": 2, "setPhase": 1, "Cell": 2, "Dial": 0, "moved": 2, "example.com/operator/moved": 2, "./moved": 2, "left": 0} {
		for _, name := range []string{"base_at_entry.go", "mutate.go"} {
			if _, err := os.Stat(filepath.Join(dir, "moved", name)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := migrate.Make(migrate.Options{Dir: dir, Patterns: []string{"./moved"}, Only: only})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, s := range p.Sites {
			if s.Verdict == migrate.Moved && (strings.Contains(s.At, "base_at_entry.go") || strings.Contains(s.At, "mutate.go")) {
				got++
			}
		}
		if got != want {
			t.Errorf("-only=%s moves %d of two writes, expected %d", only, got, want)
		}
	}
}

// A move that changes the result of one of the operator's own tests is put back, and no other.
func TestPutBack(t *testing.T) {
	dir := operator(t)
	var notes bytes.Buffer
	p := plan(t, dir, "./tested", "./api/...")
	if err := p.Apply(migrate.ApplyOptions{Force: true, Test: true}, &notes); err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sites {
		switch s.Function {
		case "Update":
			if s.Verdict != migrate.Left || !strings.HasPrefix(s.Reason, "the move changes the result of TestUpdate: tested_test.go:") {
				t.Errorf("Update: %s: %s", s.Verdict, s.Reason)
			}
		case "Any":
			if s.Verdict != migrate.Moved {
				t.Errorf("Any: %s: %s", s.Verdict, s.Reason)
			}
		}
	}
	text := read(t, filepath.Join(dir, "tested", "tested.go"))
	if !strings.Contains(text, "return c.Status().Update(ctx, cell)") || !strings.Contains(text, "return v1status.CellKind.Flush(ctx, c, cell)") {
		t.Errorf("tested.go:\n%s", text)
	}
	command(t, dir, "go", "test", "./tested")
	if want := "tests: 2 passed and 0 failed before, 2 passed and 0 failed after"; !strings.Contains(notes.String(), want) {
		t.Errorf("notes: %s\nexpected %s", notes.String(), want)
	}
}

// A test that fails once, for whatever reason, puts nothing back: only what fails again counts.
func TestFlakyTestPutsNothingBack(t *testing.T) {
	dir := operator(t)
	runs := filepath.ToSlash(filepath.Join(t.TempDir(), "runs"))
	if err := os.Remove(filepath.Join(dir, "tested", "tested_test.go")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tested", "flaky_test.go"), strings.ReplaceAll(`package tested

import (
	"os"
	"testing"
)

func TestFlaky(t *testing.T) {
	done, _ := os.ReadFile("RUNS")
	if err := os.WriteFile("RUNS", append(done, 'x'), 0o644); err != nil || len(done) == 1 {
		t.Fatal("the second run fails", err)
	}
}
`, "RUNS", runs))
	var notes bytes.Buffer
	p := plan(t, dir, "./tested", "./api/...")
	if err := p.Apply(migrate.ApplyOptions{Force: true, Test: true}, &notes); err != nil {
		t.Fatal(err)
	}
	if c := p.Counts(); c.Moved != 2 || c.Left != 0 {
		t.Errorf("%+v, expected that both writes are moved\n%s", c, notes.String())
	}
	if want := "1 passed and 0 failed before, 1 passed and 0 failed after"; !strings.Contains(notes.String(), want) {
		t.Errorf("notes: %s\nexpected %s", notes.String(), want)
	}
}

// Kinds in a module of their own get their patchers in the module of the controllers, which has the requirements.
func TestAPIModuleOfItsOwn(t *testing.T) {
	dir := operator(t)
	mod := read(t, filepath.Join(dir, "go.mod"))
	write(t, filepath.Join(dir, "api", "go.mod"), strings.Replace(mod, "module example.com/operator\n", "module example.com/operator/api\n", 1))
	write(t, filepath.Join(dir, "api", "go.sum"), read(t, filepath.Join(dir, "go.sum")))
	write(t, filepath.Join(dir, "go.mod"), mod+"\nrequire example.com/operator/api v0.0.0\n\nreplace example.com/operator/api => ./api\n")
	p := plan(t, dir, "./moved", ".")
	if err := p.Apply(migrate.ApplyOptions{Force: true}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "internal", "v1status", "zz_generated.statuspatcher.go")); err != nil {
		t.Error(err)
	}
	if text := read(t, filepath.Join(dir, "moved", "mutate.go")); !strings.Contains(text, `"example.com/operator/internal/v1status"`) {
		t.Errorf("mutate.go:\n%s", text)
	}
	command(t, dir, "go", "vet", "./moved", ".", "./internal/...")
}
