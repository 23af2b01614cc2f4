package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/statuspatcher/statuspatcher/hack/operators"
)

// results are the results of tests by their full name: "pass", "fail" or "skip".
type results map[string]string

func (r results) count(result string) (n int) {
	for _, got := range r {
		if got == result {
			n++
		}
	}
	return n
}

// An event is a line of what the hook writes down.
type event struct {
	What, Class, Kind, Site string
	N                       int
}

// An outcome is what became of a project.
type outcome struct {
	project
	bare, wrapped results
	events        map[event]int
}

// A trial is a project on disk.
type trial struct {
	project
	// root is this repository, and dir the copy of the project.
	root, dir string
	// resume uses what an interrupted run has left.
	resume bool
}

// try runs the tests of a project with the bare client, and with the wrapped one.
func (t trial) try(ctx context.Context, mode string) (outcome, error) {
	o := outcome{project: t.project, bare: results{}, wrapped: results{}, events: map[event]int{}}
	if err := t.prepare(); err != nil {
		return o, err
	}
	for _, pkg := range t.Tests {
		for _, mode := range []string{"bare", mode} {
			into := o.bare
			if mode != "bare" {
				into = o.wrapped
			}
			r, err := t.test(ctx, mode, pkg)
			if err != nil {
				return o, err
			}
			maps.Copy(into, r.Results)
			for _, e := range r.Events {
				n := e.N
				e.N = 0
				o.events[e] += n
			}
			fmt.Fprintf(os.Stderr, "  %-6s %s: %d passed, %d failed\n", mode, pkg, r.Results.count("pass"), r.Results.count("fail"))
		}
	}
	return o, nil
}

// prepare copies the project and adds what the runs need, unless an interrupted run has.
func (t trial) prepare() error {
	prepared := filepath.Join(t.dir, ownDir, "prepared")
	if _, err := os.Stat(prepared); err == nil && t.resume {
		return nil
	}
	if err := operators.Fetch(t.dir, operators.Source{Module: t.project.Module, Nested: t.project.Nested}, nil); err != nil {
		return err
	}
	if err := prepare(t.root, t.dir, t.project); err != nil {
		return err
	}
	return os.WriteFile(prepared, nil, 0o644)
}

// A testRun is what came of the tests of a package.
type testRun struct {
	Results results
	Events  []event
}

// fileOf names a file of the tests of a package.
func (t trial) fileOf(pkg, mode, what string) string {
	return filepath.Join(t.dir, ownDir, strings.ReplaceAll(pkg, "/", "_")+"."+mode+"."+what)
}

// test runs the tests of a package, unless an earlier run has.
func (t trial) test(ctx context.Context, mode, pkg string) (testRun, error) {
	saved := t.fileOf(pkg, mode, "json")
	var r testRun
	if content, err := os.ReadFile(saved); err == nil && t.resume && json.Unmarshal(content, &r) == nil {
		return r, nil
	}
	r, err := t.run(ctx, mode, pkg)
	if err != nil {
		return r, err
	}
	content, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	return r, os.WriteFile(saved, content, 0o644)
}

func (t trial) run(ctx context.Context, mode, pkg string) (testRun, error) {
	output, specs, events := t.fileOf(pkg, mode, "txt"), t.fileOf(pkg, mode, "specs"), t.fileOf(pkg, mode, "events")
	for _, name := range []string{specs, events} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return testRun{}, err
		}
	}
	suite := slices.Contains(t.Suites, pkg)
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout=20m", "./" + pkg}
	if suite {
		args = append(args, "-args", "-ginkgo.json-report="+specs)
	}
	assets, err := filepath.Glob(filepath.Join(t.root, "bin", "envtest", "*"))
	if err != nil || len(assets) == 0 {
		return testRun{}, errors.Join(err, errors.New("bin/envtest is empty: run make envtest"))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	// The test binary ends with this program. The API server of a suite, which envtest puts into a process group of its own, ends when
	// the suite stops it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // what a suite has left behind may hold the pipe
	cmd.Env = operators.Environ("WRAP_MODE="+mode, "WRAP_LOG="+events, "KUBEBUILDER_ASSETS="+assets[0])
	out, testErr := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err := ctx.Err(); err != nil {
		return testRun{}, err
	}
	if err := os.WriteFile(output, []byte(textOf(out)), 0o644); err != nil {
		return testRun{}, err
	}
	r := testRun{Results: readTests(pkg, out)}
	if suite {
		if err := readSpecs(specs, pkg, r.Results); err != nil {
			return r, fmt.Errorf("%w; see %s", err, output)
		}
	}
	if len(r.Results) == 0 {
		return r, fmt.Errorf("%s ran no test: %w; see %s", pkg, testErr, output)
	}
	r.Events, err = readEvents(events)
	return r, err
}

// testEvent is a line of go test -json.
type testEvent struct{ Action, Test, Output string }

func testEvents(out []byte, each func(testEvent)) {
	lines := bufio.NewReader(bytes.NewReader(out))
	for {
		line, err := lines.ReadBytes('\n')
		var e testEvent
		if json.Unmarshal(line, &e) == nil {
			each(e)
		} else if len(line) > 0 {
			each(testEvent{Output: string(line)})
		}
		if errors.Is(err, io.EOF) {
			return
		}
	}
}

func readTests(pkg string, out []byte) results {
	got := results{}
	testEvents(out, func(e testEvent) {
		switch {
		case e.Test == "":
		case e.Action == "run":
			got[pkg+" "+e.Test] = "fail" // until it says otherwise
		case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
			got[pkg+" "+e.Test] = e.Action
		}
	})
	return got
}

func textOf(out []byte) string {
	var text strings.Builder
	testEvents(out, func(e testEvent) { text.WriteString(e.Output) })
	return text.String()
}

// readSpecs reads the specs of a Ginkgo suite.
func readSpecs(name, pkg string, into results) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
		}
	}
	if err := json.Unmarshal(content, &suites); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
			if spec.LeafNodeType != "It" {
				name = "[" + spec.LeafNodeType + "] " + name
			}
			result := map[string]string{"passed": "pass", "skipped": "skip", "pending": "skip"}[spec.State]
			if result == "" {
				result = "fail"
			}
			into[pkg+" "+name] = result
		}
	}
	return nil
}

// readEvents reads what the hook has written down, which is nothing for a bare client.
func readEvents(name string) ([]event, error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var events []event
	for line := range bytes.Lines(content) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
