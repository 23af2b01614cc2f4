package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const runtime = "github.com/statuspatcher/statuspatcher/patcher"

// A site is a write of the plan.
type site struct {
	At, Kind, Verdict, Shape, Reason string
	Own, Checked                     bool
}

// migrate copies an operator, migrates the copy and vets it.
func migrate(c config, p project) (row, error) {
	dir := filepath.Join(c.cache, p.Name)
	if err := fetch(dir, p.Module); err != nil {
		return row{}, err
	}
	if err := require(dir, c.runtime); err != nil {
		return row{}, err
	}
	args := []string{"-w", "-json", "-force"}
	if c.tests {
		args = append(args, "-test")
	}
	cmd := exec.Command(c.tool, append(args, "./...")...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environ(), os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		err = nil // some writes are left
	}
	var sites []site
	if jsonErr := json.Unmarshal(out, &sites); jsonErr != nil {
		return row{}, errors.Join(err, jsonErr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, p.Name+": some packages could not be loaded in full:", err)
	}
	r := newRow(p.Name, sites)
	if _, err := command(dir, "go", "vet", "./..."); err != nil {
		return r, fmt.Errorf("%s: the migrated operator does not vet: %w", dir, err)
	}
	return r, nil
}

// fetch makes dir a fresh, writable copy of a module from the module proxy.
func fetch(dir, module string) error {
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
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(m.Dir))
}

// require makes a module use the runtime of this checkout.
func require(dir, at string) error {
	edit := []string{"mod", "edit", "-require=" + runtime + "@v0.0.0", "-replace=" + runtime + "=" + at}
	if _, err := command(dir, "go", edit...); err != nil {
		return err
	}
	if _, err := command(dir, "go", "mod", "tidy"); err != nil {
		return err
	}
	_, err := command(dir, "go", edit...) // nothing imports it yet, so that tidy has dropped it
	return err
}

func environ() []string {
	return append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
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
