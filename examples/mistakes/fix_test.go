package mistakes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mended are the mistakes that lie in how status is written. The others are decisions that the code takes, which no rewrite can
// know to be wrong: what to delete (L1), what to compare with (L2), and whether an error is worth a status (L4).
var mended = []string{"L0", "L3", "L5", "L6"}

// TestFix lets the lint rule fix a copy of handwritten-operator: what it rewrites compiles, it rewrites it once, and each mistake
// in how status is written does not show any more.
func TestFix(t *testing.T) {
	c := newCopy(t)
	if before := c.mistakes(); len(before) != len(mistakes) {
		t.Fatalf("control: before the fix %d of %d mistakes were tried: %v", len(before), len(mistakes), before)
	} else {
		for name, shows := range before {
			if !shows {
				t.Errorf("control: before the fix %s does not show", name)
			}
		}
	}

	c.fix()
	c.mustRun("go vet ./controller")
	c.handOver()
	for name, shows := range c.mistakes() {
		number, _, _ := strings.Cut(name, "_")
		if want := !slices.Contains(mended, number); shows != want {
			t.Errorf("after the fix %s shows: %v, expected %v", name, shows, want)
		}
	}

	fixed := c.source()
	c.fix()
	if !bytes.Equal(c.source(), fixed) {
		t.Error("a second -fix changed something")
	}
}

// copied is a module with a copy of handwritten-operator, and of the tests of this package that run it in place of the original.
type copied struct {
	*testing.T
	dir, checkout string
}

func newCopy(t *testing.T) *copied {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	c := &copied{T: t, dir: t.TempDir(), checkout: checkout}
	const module, original = "github.com/statuspatcher/statuspatcher", "/examples/handwritten-operator/controller"
	c.copy("*.go", checkout+original, "controller", "", "")
	c.copy("*_test.go", ".", "mistakes", module+original, "example.org/fixed/controller")
	const operator = module + "/examples/database-operator/"
	for _, name := range []string{"executor", "planner"} {
		c.copy("*.go", "../database-operator/"+name, name, "", "")
		c.replace("controller/*.go", operator+name, "example.org/fixed/"+name)
	}
	c.copy("*.yaml", "../database-operator/config/crd", "database-operator/config/crd", "", "")
	c.copy("go.sum", checkout, ".", "", "")
	c.copy("go.mod", checkout, ".", "module "+module, "module example.org/fixed\n\nrequire "+module+" v0.0.0\nreplace "+module+" => "+checkout)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.dir+"/bin/", module+"/cmd/statuspatcher-lint").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return c
}

// copy copies the files of from that match, with old replaced by new. This test is left behind.
func (c *copied) copy(pattern, from, to, old, new string) {
	c.Helper()
	paths, err := filepath.Glob(filepath.Join(from, pattern))
	if err != nil || len(paths) == 0 {
		c.Fatalf("no %s in %s: %v", pattern, from, err)
	}
	if err := os.MkdirAll(filepath.Join(c.dir, to), 0o755); err != nil {
		c.Fatal(err)
	}
	for _, path := range paths {
		if filepath.Base(path) == "fix_test.go" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			c.Fatal(err)
		}
		if old != "" {
			text = bytes.ReplaceAll(text, []byte(old), []byte(new))
		}
		if err := os.WriteFile(filepath.Join(c.dir, to, filepath.Base(path)), text, 0o644); err != nil {
			c.Fatal(err)
		}
	}
}

// replace puts new in the place of old in the files that match.
func (c *copied) replace(pattern, old, new string) {
	c.Helper()
	paths, err := filepath.Glob(filepath.Join(c.dir, pattern))
	if err != nil {
		c.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(new)), 0o644); err != nil {
			c.Fatal(err)
		}
	}
}

// fix runs the rule as for code that moves over. Exit status 3 says that something is left to be fixed by hand.
func (c *copied) fix() {
	c.Helper()
	if out, err := c.run("statuspatcher-lint -fix -ban ./..."); err != nil && !strings.Contains(err.Error(), "exit status 3") {
		c.Fatalf("%v\n%s", err, out)
	}
}

// handOver gives the reconciler what its set-up now hands over, in the tests that make one without it.
func (c *copied) handOver() {
	c.replace("mistakes/operators_test.go", "backup: func(c client.Client, _ client.Reader)", "backup: func(c client.Client, live client.Reader)")
	c.replace("mistakes/operators_test.go", "handwritten.BackupReconciler{Client: c}", "handwritten.BackupReconciler{Client: c, APIReader: live}")
}

var tried = regexp.MustCompile(`(?m)^ +--- (PASS|FAIL): TestMistakes/(\S+)/handwritten`)

// mistakes tells of each mistake whether it shows.
func (c *copied) mistakes() map[string]bool {
	c.Helper()
	out, err := c.run("go test -v -run 'TestMistakes/.*/handwritten' ./mistakes")
	shows, gone := map[string]bool{}, 0
	for _, m := range tried.FindAllStringSubmatch(out, -1) {
		shows[m[2]] = m[1] == "PASS"
		if !shows[m[2]] {
			gone++
		}
	}
	if len(shows) == 0 || gone != strings.Count(out, "the mistake does not show") {
		c.Fatalf("%v\n%s", err, out)
	}
	return shows
}

func (c *copied) run(command string) (string, error) {
	cmd := exec.CommandContext(c.Context(), "bash", "-c", command)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+c.dir+"/bin:"+os.Getenv("PATH"), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		cmd.Env = append(cmd.Env, "KUBEBUILDER_ASSETS="+c.binaries())
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *copied) mustRun(command string) {
	c.Helper()
	if out, err := c.run(command); err != nil {
		c.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// binaries is where make envtest has built the API server.
func (c *copied) binaries() string {
	c.Helper()
	found, err := filepath.Glob(filepath.Join(c.checkout, "bin", "envtest", "*"))
	if err != nil || len(found) == 0 {
		c.Fatalf("no API server in bin/envtest, run make envtest: %v", err)
	}
	return found[len(found)-1]
}

// source is all of the operator's.
func (c *copied) source() (all []byte) {
	c.Helper()
	paths, err := filepath.Glob(filepath.Join(c.dir, "controller", "*.go"))
	if err != nil {
		c.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			c.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}
