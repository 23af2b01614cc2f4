package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/statuspatcher/statuspatcher/hack/operators"
)

// fetch makes dir a writable copy of the project, with its dependencies downloaded by its own go.mod.
func fetch(dir string, p project) error {
	return operators.Fetch(dir, operators.Source{Module: p.Module, Nested: p.Nested}, func() error {
		for _, path := range p.DropReplaces {
			if _, err := operators.Command(dir, "go", "mod", "edit", "-dropreplace="+path); err != nil {
				return err
			}
		}
		// A dependency that the proxy does not serve costs the packages that import it, not the project.
		if _, err := operators.Command(dir, "go", "mod", "download"); err != nil {
			fmt.Fprintln(os.Stderr, "lint-corpus:", err)
		}
		return nil
	})
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
	cmd.Dir, cmd.Env, cmd.Stderr = dir, operators.Environ(), io.MultiWriter(os.Stderr, &stderr)
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
