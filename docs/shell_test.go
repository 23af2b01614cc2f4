package docs

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	kubebuilderproject "github.com/statuspatcher/statuspatcher/hack/kubebuilder-project"
	"github.com/statuspatcher/statuspatcher/hack/markdown"
)

// shell does what a document says, block by block. Options of a block, which are not rendered, say what a reader knows:
//
//	```sh                  run in a project as kubebuilder scaffolds it
//	```sh in=checkout      run in this repository
//	```sh in=FILE          run by that file of CI, not here: see elsewhere
//	```sh exit=3           ends with that status
//	```text                is in what the block before it prints
//	```text by=TestName    is compared by that test
//	```go file=NAME        is that file; make append=NAME is appended to it
//	```go line=NAME:97     replaces that line of that file
//	```diff edit=NAME      changes that file: what the diff shows as it was is there, once
//	```yaml as=workflow    has jobs of a GitHub workflow; as=golangci configures golangci-lint; other CI systems are in ci_test.go
type shell struct {
	project *kubebuilderproject.Project
	dir     string // where in the project
	printed string // by the last block
	took    []string
}

// follow does what all blocks of a document say, until one of them is wrong.
func (s *shell) follow(doc document) error {
	s.printed = ""
	for _, block := range markdown.Blocks(doc.text) {
		if err := s.block(block); err != nil {
			return fmt.Errorf("%s:%d: %w", doc.path, block.Line, err)
		}
	}
	return nil
}

func (s *shell) block(block markdown.Block) error {
	option := block.Options
	switch {
	case option["file"] != "":
		return s.project.Write(filepath.Join(s.dir, option["file"]), []byte(block.Text))
	case option["append"] != "":
		return s.append(option["append"], block.Text)
	case option["edit"] != "":
		return s.edit(option["edit"], block.Text)
	case option["line"] != "":
		return s.replace(option["line"], block.Text)
	case block.Language == "text" && option["by"] == "":
		return printed(s.printed, block.Text)
	case block.Language == "yaml" && recipes[option["as"]] != nil:
		return recipes[option["as"]](s, block.Text)
	case block.Language == "yaml" && option["as"] == "golangci":
		return checkGolangci(block.Text)
	case block.Language != "sh":
		return nil
	}
	switch in := option["in"]; in {
	case "", "checkout":
		return s.run(block)
	default:
		return runElsewhere(filepath.Join(root, in), block.Text)
	}
}

// run runs the commands of a block.
func (s *shell) run(block markdown.Block) error {
	run := func() (string, error) { return s.project.Run(s.dir, block.Text) }
	if block.Options["in"] == "checkout" {
		run = func() (string, error) { return inCheckout(block.Text) }
	}
	start := time.Now()
	out, err := run()
	s.printed = out
	s.took = append(s.took, fmt.Sprintf("%6.1fs  %s", time.Since(start).Seconds(), strings.ReplaceAll(strings.TrimSpace(block.Text), "\n", "; ")))
	status := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		return err
	}
	if want, _ := strconv.Atoi(block.Options["exit"]); status != want {
		return fmt.Errorf("exit status %d, want %d, of\n%s%s", status, want, block.Text, out)
	}
	return nil
}

func inCheckout(script string) (string, error) {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *shell) append(name, text string) error {
	name = filepath.Join(s.dir, name)
	old, err := s.project.Read(name)
	if err != nil {
		return err
	}
	return s.project.Write(name, append(old, text...))
}

// edit changes a file as a diff shows it.
func (s *shell) edit(name, diff string) error {
	name = filepath.Join(s.dir, name)
	old, err := s.project.Read(name)
	if err != nil {
		return err
	}
	before, after := side(diff, "+"), side(diff, "-")
	if n := strings.Count(string(old), before); n != 1 {
		return fmt.Errorf("%s has %d times, not once,\n%s", name, n, before)
	}
	return s.project.Write(name, []byte(strings.Replace(string(old), before, after, 1)))
}

// replace puts text in the place of a line, NAME:NUMBER.
func (s *shell) replace(place, text string) error {
	name, number, _ := strings.Cut(place, ":")
	name = filepath.Join(s.dir, name)
	old, err := s.project.Read(name)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(old, []byte("\n"))
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(lines) {
		return fmt.Errorf("there is no line %s", place)
	}
	lines[n-1] = []byte(text)
	return s.project.Write(name, bytes.Join(lines, nil))
}

// printed requires that the lines of a block are in what was printed, wherever their columns are.
func printed(out, text string) error {
	if !strings.Contains(squeezed(out), squeezed(text)) {
		return fmt.Errorf("the document shows\n%s\nand what is printed now is\n%s", text, out)
	}
	return nil
}

func squeezed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// TestShellBlocksRun follows every document, in one project: the guide first, which adopts statuspatcher there.
func TestShellBlocksRun(t *testing.T) {
	if text := named(t, documents(t), guide).text; !bytes.Contains(text, []byte(kubebuilderproject.Guestbook)) {
		t.Fatalf("%s does not show how its project is made:\n%s", guide, kubebuilderproject.Guestbook)
	}
	s := &shell{project: kubebuilderproject.New(t, root, kubebuilderproject.Guestbook)}
	documents := documents(t)
	if s.test(t, named(t, documents, guide)); t.Failed() {
		return // nothing else can be right
	}
	t.Run("what each check of the guide is there for", s.testChecks)
	t.Run("controls", s.testControls)
	for _, doc := range documents {
		if doc.path != guide {
			s.test(t, doc)
		}
	}
}

func (s *shell) test(t *testing.T, doc document) {
	t.Run(doc.path, func(t *testing.T) {
		s.dir = "."
		if prepare := surroundings[doc.path]; prepare != nil {
			prepare(t, s)
		}
		s.took = nil
		if err := s.follow(doc); err != nil {
			t.Error(err)
		}
		t.Logf("commands and their times:\n%s", strings.Join(s.took, "\n"))
	})
}

func named(t *testing.T, documents []document, path string) document {
	t.Helper()
	for _, doc := range documents {
		if doc.path == path {
			return doc
		}
	}
	t.Fatalf("there is no %s", path)
	return document{}
}
