package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if _, err := command(dir, "go", "mod", "download"); err != nil {
		return err
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

// audit runs the tool, and says how much memory it took at most.
func audit(tool, dir string) ([]site, int64, error) {
	cmd := exec.Command(tool, "-audit", "-format=json", "./...")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environ(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, 0, err
	}
	var found []site
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, 0, err
	}
	var memory int64
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = u.Maxrss << 10
	}
	return found, memory, nil
}
