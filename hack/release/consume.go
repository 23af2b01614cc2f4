package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/zip"

	"github.com/statuspatcher/statuspatcher/hack/publish"
)

// consume unpacks each module as a module proxy serves it, and resolves there what it requires: the go command downloads the other
// published modules from a file proxy, and verifies their hashes against go.sum.
func consume(temp string, modules []*publish.Module) error {
	proxy := filepath.Join(temp, "proxy")
	if err := publish.WriteProxy(proxy, modules); err != nil {
		return err
	}
	env, err := consumerEnv(proxy, filepath.Join(temp, "modcache"))
	if err != nil {
		return err
	}
	for i, m := range modules {
		dir := filepath.Join(temp, fmt.Sprint("module", i))
		zipped := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v", m.Version.Version+".zip")
		if err := zip.Unzip(dir, m.Version, zipped); err != nil {
			return err
		}
		if err := resolve(dir, env, modules[:i]); err != nil {
			return fmt.Errorf("consuming what would be tagged %s: %w", m.Tag(), err)
		}
	}
	return nil
}

// resolve lists the modules that the one in dir requires, and downloads those of the others that are among them.
func resolve(dir string, env []string, others []*publish.Module) error {
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}}", "all")
	list.Dir, list.Env = dir, env
	out, err := list.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
	} else if err != nil {
		return err
	}
	for _, other := range others {
		if !slices.Contains(strings.Fields(string(out)), other.Path) {
			continue
		}
		download := exec.Command("go", "mod", "download", other.Path)
		download.Dir, download.Env = dir, env
		if out, err := download.CombinedOutput(); err != nil {
			return fmt.Errorf("go mod download: %w\n%s", err, out)
		}
	}
	return nil
}

// consumerEnv has a module cache of its own, which is filled from the machine's: what is tried out here must not become what the
// machine takes for released.
func consumerEnv(proxy, cache string) ([]string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, err
	}
	machine := strings.Fields(string(out))
	return append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(machine[0])+"/cache/download,"+machine[1],
		"GOSUMDB=off", "GOWORK=off", "GOFLAGS=-mod=readonly -modcacherw", "GOMODCACHE="+cache), nil
}
