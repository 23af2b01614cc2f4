package mistakes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFix lets the lint rule fix a copy of handwritten-operator: what it rewrites compiles, it rewrites it once, and the mistake that
// it can mend without knowing more than the code does not show any more.
func TestFix(t *testing.T) {
	c := newCopy(t)
	const claims = "go test -run TestMistakes/L0_two_Backups_claim_one_Database/handwritten ./mistakes"
	c.mustRun(claims) // control: the mistake shows

	if out, err := c.run("statuspatcher-lint -fix ./controller"); err != nil && !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("%v\n%s", err, out) // 3 says that something is left to be fixed by hand
	}
	c.mustRun("go vet ./controller")
	if out, err := c.run(claims); err == nil || !strings.Contains(out, "the mistake does not show") {
		t.Errorf("expected two Backups not to claim one Database any more, found %v\n%s", err, out)
	}

	fixed := c.source()
	if _, err := c.run("statuspatcher-lint -fix ./controller"); err != nil && !strings.Contains(err.Error(), "exit status 3") {
		t.Fatal(err)
	}
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
