package docs

import (
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/docs/markdown"
)

// Each guard over the documents fails on a document that is wrong.
func TestGuards(t *testing.T) {
	c, s := newCompiler(t), newShell(t)
	first := func(errs []error) error {
		if len(errs) == 0 {
			return nil
		}
		return errs[0]
	}
	_, ruleErrs := rulesWithoutTests([]byte("| S01 | a rule. | `TestS01_Gone` |\n"), map[string]bool{"TestS01_There": true})
	_, untested := rulesWithoutTests([]byte("| S02 | a rule. | |\n"), nil)
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"a method that is not there", c.compile("status.Write(ctx)\n"), "status.Write undefined"},
		{"a file with a mistake", c.compile("package p\n\nvar x int = \"one\"\n"), "cannot use"},
		{"no Go at all", c.compile("if then else\n"), "expected"},
		{"an import that nobody knows", c.compile("package p\n\nimport \"example.org/x\"\n"), "do not know"},
		{"a make target that is not there", first(s.check("make nonsense\n")), "no target nonsense"},
		{"a flag that is not there", first(s.check("statuspatcher-lint -nonsense ./...\n")), "does not know -nonsense"},
		{"an option that is not there", first(s.check("go tool statuspatcher-gen nonsense=1\n")), "does not know nonsense"},
		{"a package that is not there", first(s.check("go test ./nonsense/...\n")), "no nonsense"},
		{"a command that nobody knows", first(s.check("nonsense now\n")), "do not know this command"},
		{"a command that fails", first(s.check("go doc ./patcher Nonsense\n")), "Nonsense"},
		{"a second command on a line", first(s.check("make help && make nonsense\n")), "no target nonsense"},
		{"a link that leads nowhere", first(deadLinks("docs_test.go", []byte("see [this](nonsense.md#there)\n"))), "nonsense.md"},
		{"a rule whose test is gone", first(ruleErrs), "TestS01_Gone"},
		{"a rule without a test", first(untested), "S02 names no test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.err == nil || !strings.Contains(row.err.Error(), row.want) {
				t.Errorf("found %v, want %q", row.err, row.want)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	got := markdown.Blocks([]byte("text\n```go file=a.go\npackage a\n```\n\n```sh\nmake\n```\n"))
	if len(got) != 2 || got[0].Language != "go" || got[0].Options["file"] != "a.go" || got[0].Text != "package a\n" || got[0].Line != 3 {
		t.Fatalf("%+v", got)
	}
	if got[1].Language != "sh" || got[1].Text != "make\n" {
		t.Errorf("%+v", got[1])
	}
}
