package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statuspatcher/statuspatcher/hack/markdown"
)

// The figures of a run are its own; what they are of is not.
func TestComparisonShowsTheDemo(t *testing.T) {
	text, err := os.ReadFile("../../docs/comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range markdown.Blocks(text) {
		if block.Options["by"] == t.Name() {
			compareRows(t, block.Text)
			return
		}
	}
	t.Error("docs/comparison.md shows no output of the demonstration")
}

func compareRows(t *testing.T, shown string) {
	t.Helper()
	of := score{plans: 1, took: 1, converged: true}
	want := labels(strings.NewReplacer("│", "  ", "╭", "", "╮", "", "├", "", "┤", "", "┬", "", "┼", "", "╰", "", "╯", "", "┴", "", "─", "").Replace(table(&of, &of, &of)))
	if diff := cmp.Diff(want, labels(shown)); diff != "" {
		t.Errorf("docs/comparison.md shows other rows than the demonstration prints (-prints +shows):\n%s", diff)
	}
	if drifted := strings.Replace(shown, "updates lost", "updates dropped", 1); slices.Equal(want, labels(drifted)) {
		t.Error("control: a row that is not printed is not noticed")
	}
}

var columns = regexp.MustCompile(` {2,}`)

// labels are the first columns of the lines, and the head of the table.
func labels(table string) (all []string) {
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, columns.Split(line, -1)[0])
		}
	}
	return all
}
