package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shell checks the commands of documents: that the make targets, flags and packages in them exist. Those that are quick and
// change nothing are run.
type shell struct {
	targets []string
	help    map[string]string // of each of our commands
}

func newShell(t *testing.T) *shell {
	s := &shell{}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllStringSubmatch(string(makefile), -1) {
		s.targets = append(s.targets, match[1])
	}
	if s.help, err = help(); err != nil {
		t.Fatal(err)
	}
	return s
}

// help is what each of our commands says of itself.
var help = sync.OnceValues(func() (map[string]string, error) {
	said := map[string]string{}
	for _, command := range []string{"statuspatcher-gen", "statuspatcher-lint"} {
		out, _ := exec.Command("go", "run", module+"/cmd/"+command, "-h").CombinedOutput() // its exit status is no matter
		if said[command] = string(out); !strings.Contains(said[command], command) {
			return nil, fmt.Errorf("%s -h: %s", command, out)
		}
	}
	return said, nil
})

// check returns what is wrong with the commands of a block.
func (s *shell) check(script string) (errs []error) {
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", " ")) {
		line, _, _ = strings.Cut(line, "#")
		for _, command := range regexp.MustCompile(`&&|\||;`).Split(line, -1) {
			if words := strings.Fields(command); len(words) > 0 {
				if err := s.command(words); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", strings.TrimSpace(command), err))
				}
			}
		}
	}
	return errs
}

func (s *shell) command(words []string) error {
	if name := filepath.Base(strings.Split(words[0], "@")[0]); s.help[name] != "" {
		return s.ours(name, words[1:])
	}
	switch words[0] {
	case "make":
		return s.make(words[1:])
	case "go":
		return s.golang(words[1:])
	case "cd":
		return exists(words[1])
	case "git", "kubectl", "golangci-lint":
		return nil
	case "./bin/golangci-lint-statuspatcher":
		return nil
	}
	if strings.HasPrefix(words[0], "hack/") || strings.HasPrefix(words[0], ".ci/") {
		return exists(words[0])
	}
	return fmt.Errorf("the tests of the documents do not know this command")
}

func (s *shell) make(words []string) error {
	for _, word := range words {
		if !strings.Contains(word, "=") && !slices.Contains(s.targets, word) {
			return fmt.Errorf("there is no target %s", word)
		}
	}
	if slices.Equal(words, []string{"help"}) {
		return run("make", "help")
	}
	return nil
}

// golang checks the packages of the go command, and hands on what it runs of ours.
func (s *shell) golang(words []string) error {
	switch words[0] {
	case "tool", "run":
		for i, word := range words[1:] {
			name := filepath.Base(strings.Split(word, "@")[0])
			if s.help[name] != "" {
				return s.ours(name, words[i+2:])
			}
		}
	case "doc":
		return run("go", words...)
	case "mod", "env":
		return nil
	case "vet", "build", "test", "install", "get":
	default:
		return fmt.Errorf("the tests of the documents do not know go %s", words[0])
	}
	for _, word := range words[1:] {
		path, inside := strings.CutPrefix(strings.Split(word, "@")[0], module+"/")
		if inside || strings.HasPrefix(word, "./") {
			if err := exists(strings.TrimSuffix(strings.TrimPrefix(path, "./"), "...")); err != nil {
				return err
			}
		}
	}
	return nil
}

var option = regexp.MustCompile(`^(-{1,2}[a-zA-Z]+|[a-zA-Z]+(:[a-z]+)?)(=.*)?$`)

// ours checks that each flag or option of a command is in its help.
func (s *shell) ours(command string, args []string) error {
	for i, arg := range args {
		match := option.FindStringSubmatch(arg)
		if arg == ">" || (i > 0 && args[i-1] == ">") || match == nil {
			continue // a redirection, or packages
		}
		name := strings.TrimLeft(match[1], "-")
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(s.help[command]) {
			return fmt.Errorf("%s -h does not know %s", command, match[1])
		}
	}
	return nil
}

func exists(path string) error {
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return fmt.Errorf("there is no %s", path)
	}
	return nil
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
