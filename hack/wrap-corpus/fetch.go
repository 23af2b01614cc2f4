package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fetch makes dir a writable copy of the project's module, with its nested modules in place.
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
	for sub, module := range p.Nested {
		if err := install(filepath.Join(dir, filepath.FromSlash(sub)), module); err != nil {
			return err
		}
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

// environ uses the toolchain that runs this, and lets the go command complete go.mod files.
func environ(more ...string) []string {
	return append(append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off"), more...)
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
