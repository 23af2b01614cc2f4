// Package docs tests the documents: what they show compiles, what they tell to run can be run, and what they point at is there.
package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/docs/markdown"
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

// walkthrough is run command by command by the test in hack/kubebuilder-project, which also writes its files.
const walkthrough = "docs/getting-started.md"

func TestGoBlocksCompile(t *testing.T) {
	c := newCompiler(t)
	for _, doc := range documents(t) {
		for _, block := range blocks(doc, "go") {
			if block.Options["file"] != "" && doc.path == walkthrough {
				continue
			}
			if err := c.compile(block.Text); err != nil {
				t.Errorf("%s:%d: %v\n%s", doc.path, block.Line, err, block.Text)
			}
		}
	}
}

func TestShellBlocksRun(t *testing.T) {
	s := newShell(t)
	for _, doc := range documents(t) {
		if doc.path == walkthrough {
			continue
		}
		for _, block := range blocks(doc, "sh") {
			for _, err := range s.check(block.Text) {
				t.Errorf("%s:%d: %v", doc.path, block.Line, err)
			}
		}
	}
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

// The table in migrating.md is what the lint rule says.
func TestAuditTable(t *testing.T) {
	want, err := auditTable()
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

func blocks(doc document, language string) (found []markdown.Block) {
	for _, block := range markdown.Blocks(doc.text) {
		if block.Language == language {
			found = append(found, block)
		}
	}
	return found
}
