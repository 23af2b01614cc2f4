package docs

import (
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/hack/markdown"
)

// Each guard over the documents fails on a document that is wrong.
func TestGuards(t *testing.T) {
	c := newCompiler(t)
	first := func(errs []error) error {
		if len(errs) == 0 {
			return nil
		}
		return errs[0]
	}
	_, ruleErrs := rulesWithoutTests([]byte("| S01 | a rule. | `TestS01_Gone` |\n"), map[string]bool{"TestS01_There": true})
	_, generatedErrs := notGenerated([]byte("\n## What is generated\n\n| `Fetch(ctx)`, `Gone` | this |\n\n## Next"), []byte("func (*C) Fetch(ctx int) {}\n"))
	_, untested := rulesWithoutTests([]byte("| S02 | a rule. | |\n"), nil)
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"a method that is not there", c.compile("status.Write(ctx)\n"), "status.Write undefined"},
		{"a file with a mistake", c.compile("package p\n\nvar x int = \"one\"\n"), "cannot use"},
		{"a diff that adds a mistake", c.compile(sources(markdown.Blocks([]byte("```diff\n database.Status.Phase = v1.PhasePlanned\n+database.Status.Fase = v1.PhasePlanned\n```\n"))[0])[1]), "Fase undefined"},
		{"no Go at all", c.compile("if then else\n"), "expected"},
		{"an import that nobody knows", c.compile("package p\n\nimport \"example.org/x\"\n"), "do not know"},
		{"a block of no language", tested(markdown.Blocks([]byte("```\nmake demo\n```\n"))[0], nil), "no test looks at"},
		{"an output whose test is gone", tested(markdown.Blocks([]byte("```text by=TestGone\n1\n```\n"))[0], nil), "TestGone is not there"},
		{"YAML of no known kind", tested(markdown.Blocks([]byte("```yaml\na: 1\n```\n"))[0], nil), "say what it is"},
		{"golangci-lint without the plugin", checkGolangci("version: \"2\"\n"), "does not enable the plugin"},
		{"golangci-lint with a setting that is not there", checkGolangci(misspelt), "bann"},
		{"a key that golangci-lint's configuration has not", checkGolangci("lintres: {}\n"), "lintres"},
		{"a make target that is not there", first(withoutTarget(t, []string{"make help", "make nonsense"})), "no target nonsense"},
		{"a sentence about a make target that is not there", first(withoutTarget(t, namedTargets([]byte("run `make nonsense` first")))), "no target nonsense"},
		{"a link that leads nowhere", first(deadLinks("docs_test.go", []byte("see [this](nonsense.md#there)\n"))), "nonsense.md"},
		{"a link to a heading that is not there", first(deadLinks("docs_test.go", []byte("# There is\n\nsee [this](#there-is) and [that](#there-is-not)\n"))), "#there-is-not leads to no heading"},
		{"a rule whose test is gone", first(ruleErrs), "TestS01_Gone"},
		{"a name that is not generated", first(generatedErrs), "Gone is not generated"},
		{"a rule without a test", first(untested), "S02 names no test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.err == nil || !strings.Contains(row.err.Error(), row.want) {
				t.Errorf("found %v, want %q", row.err, row.want)
			}
		})
	}
}

const misspelt = `version: "2"
linters:
  enable: [statuspatcher]
  settings:
    custom:
      statuspatcher:
        type: module
        settings:
          bann: true
`

func TestBlocks(t *testing.T) {
	got := markdown.Blocks([]byte("text\n```go file=a.go\npackage a\n```\n\n```sh\nmake\n```\n"))
	if len(got) != 2 || got[0].Language != "go" || got[0].Options["file"] != "a.go" || got[0].Text != "package a\n" || got[0].Line != 3 {
		t.Fatalf("%+v", got)
	}
	if got[1].Language != "sh" || got[1].Text != "make\n" {
		t.Errorf("%+v", got[1])
	}
}
