// Package docs tests the documents: what they show compiles, what they tell to run runs, and what they point at is there.
package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/generator"
	"github.com/statuspatcher/statuspatcher/hack/markdown"
)

const root = ".."

// document is one that is tested, by its path from the root.
type document struct {
	path string
	text []byte
}

// documents returns the README and all of docs/.
func documents(t *testing.T) (all []document) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "examples", "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, document{path: strings.TrimPrefix(path, root+"/"), text: text})
	}
	if len(all) < 9 {
		t.Fatalf("found %d documents: the test looks in the wrong place", len(all))
	}
	return all
}

// TestEveryBlockIsTested: a block of a language that no test knows would be one that nobody looks at.
func TestEveryBlockIsTested(t *testing.T) {
	tests := testNames(t)
	for _, doc := range documents(t) {
		for _, block := range markdown.Blocks(doc.text) {
			if err := tested(block, tests); err != nil {
				t.Errorf("%s:%d: %v", doc.path, block.Line, err)
			}
		}
	}
}

// tested returns why no test looks at a block.
func tested(block markdown.Block, tests map[string]bool) error {
	option := block.Options
	switch by := option["by"]; {
	case by != "" && !tests[by]:
		return fmt.Errorf("%s is not there", by)
	case block.Language == "yaml" && option["as"] != "golangci" && recipes[option["as"]] == nil:
		return errors.New("say what it is: yaml as=golangci, or as a CI system of ci_test.go")
	case slices.Contains([]string{"go", "diff", "sh", "text", "yaml"}, block.Language), option["file"]+option["append"] != "":
		return nil
	}
	return fmt.Errorf("no test looks at a block of %q", block.Language)
}

// TestGoBlocksCompile leaves to TestShellBlocksRun the blocks that it writes to files.
func TestGoBlocksCompile(t *testing.T) {
	c := newCompiler(t)
	for _, doc := range documents(t) {
		for _, block := range markdown.Blocks(doc.text) {
			for _, source := range sources(block) {
				if err := c.compile(source); err != nil {
					t.Errorf("%s:%d: %v\n%s", doc.path, block.Line, err, source)
				}
			}
		}
	}
}

// sources are the Go of a block: of a diff, what was there and what is.
func sources(block markdown.Block) []string {
	switch {
	case block.Language == "diff" && block.Options["edit"] == "":
		return []string{side(block.Text, "+"), side(block.Text, "-")}
	case block.Language == "go" && block.Options["file"]+block.Options["line"] == "":
		return []string{block.Text}
	}
	return nil
}

// side is a diff without the lines that start with other.
func side(diff, other string) string {
	var text strings.Builder
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, other) {
			text.WriteString(line[1:])
		}
	}
	return text.String()
}

// TestNamedTargetsAreThere is for those that a sentence names.
func TestNamedTargetsAreThere(t *testing.T) {
	for _, doc := range documents(t) {
		for _, err := range withoutTarget(t, namedTargets(doc.text)) {
			t.Errorf("%s: %v", doc.path, err)
		}
	}
}

var namedTarget = regexp.MustCompile("`(make [a-z-]+)`")

func namedTargets(text []byte) (commands []string) {
	for _, match := range namedTarget.FindAllSubmatch(text, -1) {
		commands = append(commands, string(match[1]))
	}
	return commands
}

func TestLinksResolve(t *testing.T) {
	for _, doc := range documents(t) {
		for _, err := range deadLinks(filepath.Join(root, doc.path), doc.text) {
			t.Errorf("%s: %v", doc.path, err)
		}
	}
}

func TestEveryRuleNamesItsTests(t *testing.T) {
	rules, err := os.ReadFile("semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	found, errs := rulesWithoutTests(rules, tests)
	for _, err := range errs {
		t.Errorf("docs/semantics.md: %v", err)
	}
	if found < 30 {
		t.Errorf("found %d rules: the test does not read the tables", found)
	}
}

func TestWhatIsGenerated(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	generated, err := os.ReadFile(filepath.Join(root, "examples", "database-operator", "api", "v1", "v1status", generator.OutputName))
	if err != nil {
		t.Fatal(err)
	}
	found, errs := notGenerated(readme, generated)
	for _, err := range errs {
		t.Errorf("README.md: %v", err)
	}
	if found < 15 {
		t.Errorf("found %d names: the test does not read the table", found)
	}
}

// The table in migrating.md is what the lint rule says.
func TestAuditTable(t *testing.T) {
	want, err := auditTable(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want) {
		t.Errorf("migrating.md does not have the table of today:\n%s", want)
	}
}
