package mistakes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

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
	c.copy("go.sum", "..", ".", "", "")
	c.copy("go.mod", "..", ".", " => ../", " => "+checkout+"/")
	c.replace("go.mod", "module "+module+"/examples\n", "module example.org/fixed\n\nrequire "+module+"/examples v0.0.0\nreplace "+module+"/examples => "+checkout+"/examples\n")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", checkout, "-o", c.dir+"/bin/", "./cmd/statuspatcher-lint").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return c
}

// copy copies the files of from that match to the folder to, with old replaced by new. The tests of the tools are left behind.
func (c *copied) copy(pattern, from, to, old, new string) {
	c.Helper()
	if err := os.MkdirAll(filepath.Join(c.dir, to), 0o755); err != nil {
		c.Fatal(err)
	}
	c.each(filepath.Join(from, pattern), func(path string, text []byte) {
		if base := filepath.Base(path); base != "fix_test.go" && base != "migrate_test.go" && base != "copied_test.go" {
			c.write(filepath.Join(c.dir, to, base), text, old, new)
		}
	})
}

// replace puts new in the place of old in the files that match.
func (c *copied) replace(pattern, old, new string) {
	c.Helper()
	c.each(filepath.Join(c.dir, pattern), func(path string, text []byte) { c.write(path, text, old, new) })
}

func (c *copied) each(pattern string, visit func(path string, text []byte)) {
	c.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		c.Fatalf("no file matches %s: %v", pattern, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			c.Fatal(err)
		}
		visit(path, text)
	}
}

func (c *copied) write(path string, text []byte, old, new string) {
	c.Helper()
	if old != "" {
		text = bytes.ReplaceAll(text, []byte(old), []byte(new))
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		c.Fatal(err)
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
	c.each(filepath.Join(c.dir, "controller", "*.go"), func(_ string, text []byte) { all = append(all, text...) })
	return all
}
