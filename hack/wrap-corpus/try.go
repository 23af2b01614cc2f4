package main

import (
	"bufio"
	"bytes"
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

// try runs the tests of a project with the bare client, and with the wrapped one.
func try(root, dir, mode string, p project) (outcome, error) {
	o := outcome{project: p}
	if err := fetch(dir, p); err != nil {
		return o, err
	}
	if err := prepare(root, dir, p); err != nil {
		return o, err
	}
	var err error
	if o.bare, err = test(root, dir, "bare", p); err != nil {
		return o, err
	}
	log := logOf(dir, mode)
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, err
	}
	if o.wrapped, err = test(root, dir, mode, p); err != nil {
		return o, err
	}
	o.events, err = readEvents(log)
	return o, err
}

func logOf(dir, mode string) string { return filepath.Join(dir, ownDir, "events."+mode) }

// test runs the tests of all packages of a project.
func test(root, dir, mode string, p project) (results, error) {
	all := results{}
	for _, pkg := range p.Tests {
		got, err := testPackage(root, dir, mode, pkg, slices.Contains(p.Suites, pkg))
		if err != nil {
			return nil, err
		}
		maps.Copy(all, got)
	}
	return all, nil
}

func testPackage(root, dir, mode, pkg string, suite bool) (results, error) {
	specs := filepath.Join(dir, ownDir, "specs.json")
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout=20m", "./" + pkg}
	if suite {
		if err := os.Remove(specs); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		args = append(args, "-args", "-ginkgo.json-report="+specs)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	assets, err := filepath.Glob(filepath.Join(root, "bin", "envtest", "*"))
	if err != nil || len(assets) == 0 {
		return nil, errors.Join(err, errors.New("bin/envtest is empty: run make envtest"))
	}
	cmd.Env = environ("WRAP_MODE="+mode, "WRAP_LOG="+logOf(dir, mode), "KUBEBUILDER_ASSETS="+assets[0])
	out, err := cmd.CombinedOutput()
	output := filepath.Join(dir, ownDir, strings.ReplaceAll(pkg, "/", "_")+"."+mode+".txt")
	got := readTests(pkg, out)
	if err := os.WriteFile(output, []byte(textOf(out)), 0o644); err != nil {
		return nil, err
	}
	if suite {
		if err := readSpecs(specs, pkg, got); err != nil {
			return nil, fmt.Errorf("%w; see %s", err, output)
		}
	}
	if len(got) == 0 {
		return nil, fmt.Errorf("%s ran no test: %w; see %s", pkg, err, output)
	}
	fmt.Fprintf(os.Stderr, "  %-6s %s: %d passed, %d failed\n", mode, pkg, got.count("pass"), got.count("fail"))
	return got, nil
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

func readEvents(name string) (map[event]int, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	events := map[event]int{}
	for line := range bytes.Lines(content) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		n := e.N
		e.N = 0
		events[e] += n
	}
	return events, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
