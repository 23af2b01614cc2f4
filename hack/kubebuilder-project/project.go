package kubebuilderproject

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/statuspatcher/statuspatcher/hack/publish"
)

// Project is a directory, and the environment in which its commands get the modules of this repository from the proxy.
type Project struct {
	Dir string
	Env []string
	// Version is that of the modules of this repository.
	Version string
}

// Guestbook are the commands that scaffold the project of the documents.
const Guestbook = `kubebuilder init --domain example.org --repo example.org/guestbook
kubebuilder create api --group webapp --version v1 --kind Guestbook --resource --controller
`

// New makes a project by commands of kubebuilder, such as Guestbook. checkout is the root of this repository.
func New(t testing.TB, checkout, scaffold string) *Project {
	t.Helper()
	tools := t.TempDir() // where kubebuilder and what go install makes are
	goproxy, version := publish.Checkout(t, checkout)
	p := &Project{Dir: filepath.Join(t.TempDir(), "guestbook"), Version: version, Env: append(os.Environ(),
		"GOPROXY="+goproxy, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-buildvcs=false",
		"GOBIN="+tools, "PATH="+tools+string(filepath.ListSeparator)+os.Getenv("PATH"),
	)}
	p.Env = append(p.Env, setupEnvtest(t, tools, checkout)...)
	build := exec.Command("go", "build", "-o", filepath.Join(tools, "kubebuilder"), "sigs.k8s.io/kubebuilder/v4")
	build.Dir = filepath.Join(checkout, "hack", "kubebuilder")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building kubebuilder: %v\n%s", err, out)
	}
	if err := os.Mkdir(p.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := p.Run(".", scaffold); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// setupEnvtest puts in the place of setup-envtest, which the Makefile downloads binaries with, a script that names those which are
// here: in KUBEBUILDER_ASSETS, or where make envtest builds them.
func setupEnvtest(t testing.TB, tools, checkout string) (env []string) {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		built, err := filepath.Glob(filepath.Join(checkout, "bin", "envtest", "*", "etcd"))
		if err != nil || len(built) == 0 {
			t.Fatalf("no kube-apiserver and etcd: run make envtest, or set KUBEBUILDER_ASSETS (%v)", err)
		}
		assets = filepath.Dir(built[len(built)-1])
	}
	assets, err := filepath.Abs(assets)
	if err != nil {
		t.Fatal(err)
	}
	const version = "v0.0.0"
	path := filepath.Join(tools, "setup-envtest")
	script := fmt.Sprintf("#!/bin/sh\nprintf %%s '%s'\n", assets)
	if err := os.WriteFile(path+"-"+version, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+"-"+version, path); err != nil {
		t.Fatal(err)
	}
	// On a busy machine, kube-apiserver takes longer than the 20 seconds that envtest gives it.
	return []string{"ENVTEST=" + path, "ENVTEST_VERSION=" + version, "KUBEBUILDER_ASSETS=", "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=5m"}
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
