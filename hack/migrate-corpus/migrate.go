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
	"regexp"
	"slices"
	"strings"

	"github.com/statuspatcher/statuspatcher/hack/operators"
)

const runtime = "github.com/statuspatcher/statuspatcher/patcher"

// A site is a write of the plan.
type site struct {
	At, Kind, Verdict, Shape, Reason string
	Own, Checked                     bool
}

// migrate copies an operator, migrates the copy, builds it and vets the packages that changed.
func migrate(c config, p project) (row, error) {
	dir := filepath.Join(c.cache, p.Name)
	if err := os.RemoveAll(dir); err != nil {
		return row{}, err
	}
	if err := operators.Copy(dir, p.Module); err != nil {
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
	var notes bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, operators.Environ(), io.MultiWriter(&notes, os.Stderr)
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
	if m := tested.FindSubmatch(notes.Bytes()); m != nil {
		r.tests = string(m[1]) + " / " + string(m[2])
	}
	if _, err := operators.Command(dir, "go", "build", "./..."); err != nil {
		return r, fmt.Errorf("%s: the migrated operator does not build: %w", dir, err)
	}
	if changed := changedPackages(sites); len(changed) > 0 {
		if _, err := operators.Command(dir, "go", append([]string{"vet"}, changed...)...); err != nil {
			return r, fmt.Errorf("%s: the migrated operator does not vet: %w", dir, err)
		}
	}
	return r, nil
}

// tested finds how many tests passed and failed, in the notes of the tool.
var tested = regexp.MustCompile(`(?m)^tests: (\d+ passed and \d+ failed) before, (\d+ passed and \d+ failed) after$`)

// changedPackages are the directories of the writes that were moved.
func changedPackages(sites []site) []string {
	var out []string
	for _, s := range sites {
		file, _, _ := strings.Cut(s.At, ":")
		if dir := "./" + filepath.ToSlash(filepath.Dir(file)); s.Verdict == "moved" && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// require makes a module use the runtime of this checkout.
func require(dir, at string) error {
	edit := []string{"mod", "edit", "-require=" + runtime + "@v0.0.0", "-replace=" + runtime + "=" + at}
	if _, err := operators.Command(dir, "go", edit...); err != nil {
		return err
	}
	if _, err := operators.Command(dir, "go", "mod", "tidy"); err != nil {
		return err
	}
	_, err := operators.Command(dir, "go", edit...) // nothing imports it yet, so that tidy has dropped it
	return err
}
