package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// recipes run what a configuration of a CI system runs, in the project.
var recipes = map[string]func(*shell, string) error{
	"workflow":   (*shell).workflow,
	"action":     (*shell).action,
	"gitlab":     (*shell).gitlab,
	"tekton":     (*shell).tekton,
	"pre-commit": (*shell).preCommit,
}

// inProject runs commands, the first that fails is the error.
func (s *shell) inProject(commands ...string) error {
	for _, command := range commands {
		if out, err := s.project.Run(s.dir, command); err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, out)
		}
	}
	return nil
}

// action runs what the action of this repository runs, with the inputs that a workflow gives it.
func (s *shell) action(text string) error {
	var shown workflow
	if err := yaml.UnmarshalStrict([]byte("jobs:\n"+text), &shown); err != nil {
		return err
	}
	for _, step := range shown.steps() {
		if !strings.HasPrefix(step.Uses, "statuspatcher/statuspatcher/action@") {
			continue
		}
		var inputs []string
		for name, value := range step.With {
			inputs = append(inputs, fmt.Sprintf("%s=%v", name, value))
		}
		script, err := actionScript(inputs...)
		if err != nil {
			return err
		}
		return s.inProject(script, uncommitted)
	}
	return fmt.Errorf("no step uses the action")
}

// committed makes the project a repository with one commit, which the action compares with.
const committed = "[ -d .git ] || { git init -q . && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm all; }\n"

// uncommitted makes it a project without a repository again, as other documents take it for.
const uncommitted = "rm -rf .git zz_output zz_summary"

// actionScript returns what the first step of the action runs, which is all that needs no GitHub.
func actionScript(inputs ...string) (string, error) {
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	dir, err := filepath.Abs(filepath.Join(root, "action"))
	if err != nil {
		return "", err
	}
	if err := readYAML(filepath.Join(dir, "action.yml"), &action); err != nil {
		return "", err
	}
	given := map[string]string{}
	for name, input := range action.Inputs {
		given[name] = input.Default
	}
	for _, input := range inputs {
		name, value, _ := strings.Cut(input, "=")
		if _, ok := given[name]; !ok {
			return "", fmt.Errorf("the action has no input %s", name)
		}
		given[name] = value
	}
	script := "rm -f zz_output zz_summary\nexport GITHUB_ACTION_PATH=" + dir + " GITHUB_OUTPUT=$PWD/zz_output GITHUB_STEP_SUMMARY=$PWD/zz_summary\n"
	for name, value := range action.Runs.Steps[0].Env {
		input, ok := strings.CutPrefix(value, "${{ inputs.")
		if !ok {
			return "", fmt.Errorf("%s=%s is no input of the action", name, value)
		}
		script += fmt.Sprintf("export %s='%s'\n", name, given[strings.TrimSuffix(input, " }}")])
	}
	return committed + script + action.Runs.Steps[0].Run, nil
}

func (s *shell) gitlab(text string) error {
	var jobs map[string]struct {
		Image     string   `json:"image"`
		Script    []string `json:"script"`
		Artifacts any      `json:"artifacts"`
	}
	if err := yaml.UnmarshalStrict([]byte(text), &jobs); err != nil {
		return err
	}
	for name, job := range jobs {
		if len(job.Script) == 0 {
			return fmt.Errorf("the job %s runs nothing", name)
		}
		if err := s.inProject(job.Script...); err != nil {
			return err
		}
	}
	return nil
}

func (s *shell) tekton(text string) error {
	var task struct {
		Spec struct {
			Steps []struct{ Script string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &task); err != nil {
		return err
	}
	if len(task.Spec.Steps) == 0 {
		return fmt.Errorf("the task has no steps")
	}
	for _, step := range task.Spec.Steps {
		if err := s.inProject(step.Script); err != nil {
			return err
		}
	}
	return nil
}

// preCommit runs the hooks of this repository that a configuration names.
func (s *shell) preCommit(text string) error {
	type hook struct {
		ID    string   `json:"id"`
		Entry string   `json:"entry"`
		Args  []string `json:"args"`
	}
	var shown struct {
		Repos []struct {
			Repo, Rev string
			Hooks     []hook
		}
	}
	var own []hook
	if err := yaml.UnmarshalStrict([]byte(text), &shown); err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(root, ".pre-commit-hooks.yaml"))
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(source, &own); err != nil {
		return err
	}
	for _, wanted := range shown.Repos[0].Hooks {
		i := slices.IndexFunc(own, func(h hook) bool { return h.ID == wanted.ID })
		if i < 0 {
			return fmt.Errorf("there is no hook %s", wanted.ID)
		}
		command := fmt.Sprintf("go run github.com/statuspatcher/statuspatcher/cmd/%s@latest %s", own[i].Entry, strings.Join(own[i].Args, " "))
		if err := s.inProject(command); err != nil {
			return err
		}
	}
	return nil
}
