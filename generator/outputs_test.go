package generator

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

var update = flag.Bool("update", false, "generate the output tests again")

// outputs are the runs that make the checked-in files below internal/outputs, each with a test of its own beside its output.
var outputs = []Options{
	{Dir: "internal/outputs", Paths: []string{"./contracts/...", "./fields/...", "./odd/...", "./shapes/...", "./versions/..."}},
	{Dir: "internal/outputs", Paths: []string{"./same/..."}, OutputSame: true},
	{Dir: "internal/outputs", Types: []string{"k8s.io/api/core/v1.Node", "k8s.io/api/core/v1.Pod", "k8s.io/api/apps/v1.Deployment"}, OutputDir: "foreign"},
	{Dir: "internal/outputs", Paths: []string{"./header/..."}, HeaderFile: "header/boilerplate.go.txt", Year: "2026"},
}

// TestOutputs generates what is checked in.
func TestOutputs(t *testing.T) {
	for _, o := range outputs {
		t.Run(strings.Join(append(o.Paths, o.Types...), " "), func(t *testing.T) {
			o.Verify = !*update
			var diff, notes bytes.Buffer
			if err := Run(o, &diff, &notes); err != nil {
				t.Errorf("%v: run the test with -update and read what it wrote\n%s", err, diff.String())
			}
			if notes.Len() > 0 {
				t.Errorf("unexpected notes:\n%s", notes.String())
			}
		})
	}
}

// TestVerifyFindsStale is the negative control of TestOutputs, and of make verify.
func TestVerifyFindsStale(t *testing.T) {
	dir := copyOfModule(t, "internal/outputs/versions")
	o := Options{Dir: dir, Paths: []string{"./..."}}
	if err := Run(o, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "a", "v1", "v1status", OutputName)
	current, err := os.ReadFile(stale)
	if err != nil {
		t.Fatal(err)
	}
	o.Verify = true
	for name, content := range map[string][]byte{
		"one byte":   bytes.Replace(current, []byte("Flush writes"), []byte("flush writes"), 1),
		"the header": bytes.Replace(current, []byte("\n\n// Package"), []byte("\n// Package"), 1),
		"the end":    current[:len(current)-1],
	} {
		if err := os.WriteFile(stale, content, 0o666); err != nil {
			t.Fatal(err)
		}
		var diff bytes.Buffer
		if err := Run(o, &diff, io.Discard); err != (ErrStale{Files: 1}) {
			t.Errorf("%s is changed: error %v, want one stale file", name, err)
		}
		if !strings.Contains(diff.String(), "--- a/v1/v1status/"+OutputName) {
			t.Errorf("%s is changed: the diff does not name the file:\n%s", name, diff.String())
		}
	}
	if err := os.Remove(stale); err != nil {
		t.Fatal(err)
	}
	var diff bytes.Buffer
	if err := Run(o, &diff, io.Discard); err != (ErrStale{Files: 1}) || !strings.HasPrefix(diff.String(), "--- /dev/null\n") {
		t.Errorf("the file is gone: error %v and\n%s", err, diff.String())
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("verify wrote the file")
	}
}

// copyOfModule copies a directory of internal/outputs, tests and generated files aside, to a module of the same dependencies.
func copyOfModule(t testing.TB, from string) string {
	t.Helper()
	const outputs = "internal/outputs"
	dir := t.TempDir()
	content, err := os.ReadFile(filepath.Join(outputs, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The packages keep their import paths.
	if err := file.AddModuleStmt("github.com/statuspatcher/statuspatcher/generator/" + filepath.ToSlash(from)); err != nil {
		t.Fatal(err)
	}
	for _, replace := range file.Replace {
		to, err := filepath.Abs(filepath.Join(outputs, replace.New.Path))
		if err == nil {
			err = file.AddReplace(replace.Old.Path, "", to, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if content, err = file.Format(); err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(outputs, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"go.mod": content, "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || entry.Name() == OutputName {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(rel)), 0o777); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), content, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
