package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// repository is a git checkout.
type repository struct {
	dir string
	// config are settings for each command, as -c takes them.
	config []string
}

// git runs a git command and returns what it prints.
func (r repository) git(args ...string) (string, error) {
	var command []string
	for _, setting := range r.config {
		command = append(command, "-c", setting)
	}
	cmd := exec.Command("git", append(command, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// clone clones the repository's branch to dir, with the identity that commits in the repository have.
func (r repository) clone(dir, branch string) (repository, error) {
	if _, err := r.git("clone", "--quiet", "--branch", branch, ".", dir); err != nil {
		return repository{}, err
	}
	c := repository{dir: dir, config: []string{"commit.gpgsign=false", "tag.gpgsign=false"}}
	for _, name := range []string{"user.name", "user.email"} {
		value, err := r.git("config", name)
		if err != nil {
			return repository{}, fmt.Errorf("%w: set %s, which the commit needs", err, name)
		}
		c.config = append(c.config, name+"="+value)
	}
	return c, nil
}
