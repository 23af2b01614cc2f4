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

// identity and signing are the settings of a repository that decide what its commits and tags look like.
var (
	identity = []string{"user.name", "user.email"}
	signing  = []string{"user.signingKey", "gpg.format", "gpg.program", "gpg.ssh.program", "commit.gpgSign", "tag.gpgSign"}
)

// clone clones the repository's branch to dir. Commits and tags are made there with the identity, and signed with the key, of the
// repository.
func (r repository) clone(dir, branch string) (repository, error) {
	if _, err := r.git("clone", "--quiet", "--branch", branch, ".", dir); err != nil {
		return repository{}, err
	}
	c := repository{dir: dir}
	for _, name := range identity {
		value, err := r.git("config", name)
		if err != nil {
			return repository{}, fmt.Errorf("git has no %s, which the release's commits need: set it with git config %s VALUE", name, name)
		}
		c.config = append(c.config, name+"="+value)
	}
	for _, name := range signing {
		if value, err := r.git("config", name); err == nil {
			c.config = append(c.config, name+"="+value)
		}
	}
	return c, nil
}
