package kubebuilderproject

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/statuspatcher/statuspatcher/hack/publish"
)

//go:embed project.txtar
var scaffold []byte

// Project is a directory, and the environment in which its commands get this module from the proxy.
type Project struct {
	Dir string
	Env []string
	// Version is that of the modules of this repository.
	Version string
}

// New makes a project. checkout is the root of this repository.
func New(t testing.TB, checkout string) *Project {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin") // where go install puts commands
	goproxy, version := publish.Checkout(t, checkout)
	p := &Project{Dir: dir, Version: version, Env: append(os.Environ(),
		"GOPROXY="+goproxy, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-buildvcs=false",
		"GOBIN="+bin, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
	)}
	p.Unpack(t, ".", txtar.Parse(scaffold))
	if out, err := p.Run(".", "go mod tidy"); err != nil { // as kubebuilder does
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// Unpack writes the files of an archive below dir.
func (p *Project) Unpack(t testing.TB, dir string, archive *txtar.Archive) {
	t.Helper()
	for _, file := range archive.Files {
		if err := p.Write(filepath.Join(dir, file.Name), file.Data); err != nil {
			t.Fatal(err)
		}
	}
}

// Write writes a file of the project.
func (p *Project) Write(name string, data []byte) error {
	path := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// Read reads a file of the project.
func (p *Project) Read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(p.Dir, name)) }

// Run runs a script of bash in dir, and stops at the first command that fails. It returns all that was printed.
func (p *Project) Run(dir, script string) (string, error) {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = filepath.Join(p.Dir, dir)
	cmd.Env = p.Env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
