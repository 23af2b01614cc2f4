package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is what the test reads of a GitHub workflow.
type workflow struct {
	Jobs map[string]struct {
		Strategy struct {
			Matrix struct {
				Target []string `json:"target"`
			} `json:"matrix"`
		} `json:"strategy"`
		Steps []struct {
			Run string `json:"run"`
		} `json:"steps"`
	} `json:"jobs"`
}

// commands returns what the jobs run, for each target of their matrix.
func (w workflow) commands() (all []string) {
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if !strings.Contains(step.Run, "${{ matrix.target }}") {
				all = append(all, step.Run)
				continue
			}
			for _, target := range job.Strategy.Matrix.Target {
				all = append(all, strings.ReplaceAll(step.Run, "${{ matrix.target }}", target))
			}
		}
	}
	return all
}

// The workflows run targets that there are, and each that .ci/run does.
func TestWorkflows(t *testing.T) {
	s := newShell(t)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, command := range w.commands() {
			for _, err := range s.check(command) {
				t.Errorf("%s: %v", file, err)
			}
		}
		all = append(all, w.commands()...)
	}
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"make verify", "make test"} {
		if !strings.Contains(string(script), target) || !strings.Contains(strings.Join(all, "\n")+"\n", target+"\n") {
			t.Errorf("%s is not what .ci/run and the workflows both run", target)
		}
	}
}
