package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is what the tests read of a GitHub workflow.
type workflow struct {
	Jobs map[string]job `json:"jobs"`
}

type job struct {
	RunsOn      string            `json:"runs-on"`
	Permissions map[string]string `json:"permissions"`
	Strategy    struct {
		Matrix struct {
			Target []string `json:"target"`
		} `json:"matrix"`
	} `json:"strategy"`
	Steps []step `json:"steps"`
}

type step struct {
	Uses string         `json:"uses"`
	With map[string]any `json:"with"`
	Run  string         `json:"run"`
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

// CI, which the workflows of documents are held against.
var ci = filepath.Join(root, ".github", "workflows", "ci.yml")

// workflow runs what the jobs of a block run. Their actions are those of CI.
func (s *shell) workflow(text string) error {
	var shown, own workflow
	if err := yaml.UnmarshalStrict([]byte("jobs:\n"+text), &shown); err != nil {
		return err
	}
	if err := readYAML(ci, &own); err != nil {
		return err
	}
	for name, job := range shown.Jobs {
		if job.RunsOn == "" || len(job.Steps) == 0 {
			return fmt.Errorf("job %s has no runs-on, or no steps", name)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !slices.ContainsFunc(own.steps(), step.like) {
				return fmt.Errorf("%s with %v is not what CI uses", step.Uses, step.With)
			}
			if out, err := s.project.Run(s.dir, step.Run); err != nil {
				return fmt.Errorf("%s: %w\n%s", step.Run, err, out)
			}
		}
	}
	return nil
}

func (w workflow) steps() (all []step) {
	for _, job := range w.Jobs {
		all = append(all, job.Steps...)
	}
	return all
}

// like tells whether another step uses the same action with the same inputs, at least.
func (s step) like(other step) bool {
	for input, value := range s.With {
		if other.With[input] != value {
			return false
		}
	}
	return s.Uses == other.Uses
}

func readYAML(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// The workflows run targets that there are, and each that .ci/run does.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	var all []string
	for _, file := range files {
		commands, err := commandsOf(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range withoutTarget(t, commands) {
			t.Errorf("%s: %v", file, err)
		}
		all = append(all, commands...)
	}
	script, err := commandsOf(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"make verify", "make test"} {
		if !slices.Contains(script, target) || !slices.Contains(all, target) {
			t.Errorf("%s is not what .ci/run and the workflows both run", target)
		}
	}
}

// withoutTarget returns an error for each command that makes what the Makefile does not know.
func withoutTarget(t *testing.T, commands []string) (errs []error) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		if target, isMake := strings.CutPrefix(command, "make "); isMake && !strings.Contains(string(makefile), "\n"+target+":") {
			errs = append(errs, fmt.Errorf("there is no target %s", target))
		}
	}
	return errs
}
