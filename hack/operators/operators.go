// Package operators copies the sources of public operators from the Go module proxy, for the programs that try our tools on them.
package operators

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

// A Source names the modules of an operator, as path@version.
type Source struct {
	Module string
	// Nested are modules in directories of it.
	Nested map[string]string
}

// Fetch makes dir a writable copy of the source, and then calls complete, if it is not nil. A copy that is complete already stays as it is.
func Fetch(dir string, s Source, complete func() error) error {
	done := filepath.Join(dir, ".fetched")
	if b, err := os.ReadFile(done); err == nil && string(b) == s.Module {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := Copy(dir, s.Module); err != nil {
		return err
	}
	for sub, module := range s.Nested {
		if err := Copy(filepath.Join(dir, filepath.FromSlash(sub)), module); err != nil {
			return err
		}
	}
	if complete != nil {
		if err := complete(); err != nil {
			return err
		}
	}
	return os.WriteFile(done, []byte(s.Module), 0o644)
}

// Copy copies a module, path@version, from the module cache, which is read-only, to dir.
func Copy(dir, module string) error {
	out, err := Command(os.TempDir(), "go", "mod", "download", "-json", module)
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

// Environ returns the environment of this process, in which the go command uses the toolchain that runs this, and completes go.mod
// files. It ends with the variables in more.
func Environ(more ...string) []string {
	return append(append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off"), more...)
}

// Command runs a command in dir and returns what it prints. The error has what it prints to stderr.
func Command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, Environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
