package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/hack/markdown"
	"github.com/statuspatcher/statuspatcher/internal/scaffold"
)

// The guide shows the Makefile targets that the kubebuilder plugin writes.
func TestTargetsOfThePlugin(t *testing.T) {
	text, err := os.ReadFile("getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range markdown.Blocks(text) {
		if block.Options["append"] == "Makefile" {
			if strings.TrimSpace(block.Text) != strings.TrimSpace(scaffold.Targets) {
				t.Errorf("getting-started.md:%d differs from internal/scaffold/templates/Makefile:\n%s", block.Line, scaffold.Targets)
			}
			return
		}
	}
	t.Error("getting-started.md appends nothing to the Makefile")
}
