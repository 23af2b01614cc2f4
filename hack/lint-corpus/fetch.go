package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// fetch makes dir a writable copy of the project's module, with its nested modules in place, and its dependencies
// downloaded by its own go.mod.
func fetch(dir string, p project) error {
	done := filepath.Join(dir, ".fetched")
	if b, err := os.ReadFile(done); err == nil && string(b) == p.Module {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := install(dir, p.Module); err != nil {
		return err
	}
	for sub, mod := range p.Nested {
		if err := install(filepath.Join(dir, filepath.FromSlash(sub)), mod); err != nil {
			return err
		}
	}
	for _, path := range p.DropReplaces {
		if _, err := command(dir, "go", "mod", "edit", "-dropreplace="+path); err != nil {
			return err
		}
	}
	// A dependency that the proxy does not serve costs the packages that import it, not the project.
	if _, err := command(dir, "go", "mod", "download"); err != nil {
		fmt.Fprintln(os.Stderr, "lint-corpus:", err)
	}
	return os.WriteFile(done, []byte(p.Module), 0o644)
}

// install copies a module from the module cache, which is read-only.
func install(dir, module string) error {
	out, err := command(os.TempDir(), "go", "mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var m struct{ Dir, Error string }
	if err := json.Unmarshal(out, &m); err != nil {
		return err
	}
	if m.Error != "" {
		return errors.New(m.Error)
	}
	return os.CopyFS(dir, os.DirFS(m.Dir))
}

// environ: the toolchain that runs this, and go.mod files that may be completed.
func environ() []string {
	return append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOWORK=off")
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s", name, args, err, stderr.String())
	}
	return out, nil
}

// An audit is what the tool found, how many packages it could look at only in part, and how much memory it took at most.
type audit struct {
	found   []site
	partial int
	memory  int64
}

func runAudit(tool, dir string) (audit, error) {
	cmd := exec.Command(tool, "-audit", "-format=json", "./...")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environ(), io.MultiWriter(os.Stderr, &stderr)
	out, err := cmd.Output()
	var a audit
	a.partial = strings.Count(stderr.String(), "could not be analysed in full")
	if err != nil && a.partial == 0 {
		return a, err
	}
	if err := json.Unmarshal(out, &a.found); err != nil {
		return a, err
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		a.memory = u.Maxrss << 10
	}
	return a, nil
}
