package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// binaries are the directories of this module that hold a main package, the quick one first.
var binaries = []string{"etcd", "kube-apiserver"}

// stampFile is written last: a directory without it, or with another content, is not a finished build.
const stampFile = ".stamp"

// unfinished is the pattern of the directories that builds are made in.
const unfinished = ".build-*"

// target is a directory of binaries of one version.
type target struct {
	dir     string
	version string // of k8s.io/kubernetes, without the v
	stamp   string // what the binaries are built from
}

// newTarget refuses a directory that is named after another version than the one pinned here: its users would run
// their tests on a server that they did not ask for.
func newTarget(dir string) (*target, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return nil, fmt.Errorf("reading the version of k8s.io/kubernetes (run this in hack/envtest): %w", withStderr(err))
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	if filepath.Base(dir) != version {
		return nil, fmt.Errorf("expected a directory named %s, the version of k8s.io/kubernetes in hack/envtest/go.mod, found %s;"+
			" name it so, or change go.mod", version, dir)
	}
	t := &target{dir: dir, version: version}
	t.stamp, err = t.digest()
	return t, err
}

// digest covers what decides the content of the binaries, and not the Go release: servers of an older one serve as well.
func (t *target) digest() (string, error) {
	sources := []string{"go.mod", "go.sum"}
	for _, name := range binaries {
		sources = append(sources, filepath.Join(name, "main.go"))
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOOS, runtime.GOARCH, t.flags())
	for _, source := range sources {
		content, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, source, len(content))
		hash.Write(content)
	}
	return fmt.Sprintf("%x\n", hash.Sum(nil)), nil
}

// flags leave out symbols and local paths, and say the version, which a plain go build cannot know.
func (t *target) flags() []string {
	number := strings.Split(t.version, ".")
	link := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		link = append(link,
			"-X", pkg+".gitVersion=v"+t.version, "-X", pkg+".gitMajor="+number[0], "-X", pkg+".gitMinor="+number[1])
	}
	return []string{"-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags=" + strings.Join(link, " ")}
}

// build makes the directory current, and does nothing if it is.
func (t *target) build(progress *progress) error {
	if t.current() {
		progress.step("%s is up to date", t.dir)
		return nil
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	waiting := time.AfterFunc(time.Second, func() { progress.step("waiting for another build of %s", t.dir) })
	unlock, err := lockedfile.MutexAt(filepath.Join(t.dir, ".lock")).Lock()
	waiting.Stop()
	if err != nil {
		return err
	}
	defer unlock()
	if t.current() { // built by the one that held the lock
		return nil
	}
	return t.buildAll(progress)
}

// current tells whether a finished build of the same sources is there.
func (t *target) current() bool {
	stamp, err := os.ReadFile(filepath.Join(t.dir, stampFile))
	if err != nil || string(stamp) != t.stamp {
		return false
	}
	return !slices.ContainsFunc(binaries, func(name string) bool {
		_, err := os.Stat(filepath.Join(t.dir, name))
		return err != nil
	})
}

// buildAll builds beside the directory's files and moves each into place when it is whole, the stamp last.
func (t *target) buildAll(progress *progress) error {
	if err := t.removeUnfinished(); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(t.dir, unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	progress.step("building %s of Kubernetes %s (some minutes, once)", strings.Join(binaries, " and "), t.version)
	for _, name := range binaries {
		started := time.Now()
		if err := t.buildOne(name, filepath.Join(temp, name), progress); err != nil {
			return err
		}
		progress.step("built %s in %s", name, time.Since(started).Round(time.Second))
	}
	if err := os.WriteFile(filepath.Join(temp, stampFile), []byte(t.stamp), 0o644); err != nil {
		return err
	}
	for _, name := range append(slices.Clone(binaries), stampFile) {
		if err := os.Rename(filepath.Join(temp, name), filepath.Join(t.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// removeUnfinished removes what killed builds have left. Each build has a directory of its own, since the compiler of a
// killed one may still be running.
func (t *target) removeUnfinished() error {
	left, err := filepath.Glob(filepath.Join(t.dir, unfinished))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

func (t *target) buildOne(name, output string, progress *progress) error {
	args := append([]string{"build", "-v", "-o", output}, t.flags()...)
	cmd := exec.Command("go", append(args, "./"+name)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var log bytes.Buffer
	cmd.Stderr = progress.packages(name, &log)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build ./%s: %w\n%s", name, err, log.Bytes())
	}
	return nil
}

// withStderr adds what the command had to say to its exit status.
func withStderr(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}
