package class

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The document is what the table says; a change of either alone fails.
func TestReferenceIsGenerated(t *testing.T) {
	text, err := os.ReadFile("../../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := WithReference(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("docs/lint.md is out of date: run go generate ./internal/lint/class")
	}
	if _, err := WithReference("no place"); err == nil {
		t.Error("control: a document without the comments was accepted")
	}
}

var heading = regexp.MustCompile(`(?m)^#+ (.+)$`)

// The links of diagnostics lead to headings that are there.
func TestAnchors(t *testing.T) {
	text, err := os.ReadFile("../../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		anchors[strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	for _, c := range All() {
		page, anchor, _ := strings.Cut(URL(c), "#")
		if !strings.HasSuffix(page, "/docs/lint.md") || !anchors[anchor] {
			t.Errorf("%s links to %s, and there is no such heading", c, URL(c))
		}
	}
	if anchors["no-such-class"] {
		t.Error("control: a class that does not exist has a heading")
	}
}

// Every entry is complete, and every class to fix shows its code before and, where a rewrite is local, after.
func TestTableIsComplete(t *testing.T) {
	seen := map[Class]bool{}
	for _, d := range Docs() {
		if seen[d.Class] || d.Title == "" || d.Text == "" || d.Verdict == "" || strings.HasSuffix(d.Title, ".") {
			t.Errorf("the entry of %s is incomplete or there twice: %+v", d.Class, d)
		}
		seen[d.Class] = true
		if d.Verdict == Fix && d.Before == "" {
			t.Errorf("%s shows no code", d.Class)
		}
		if !strings.Contains(d.Explain(), d.Title) || d.Before != "" && !strings.Contains(d.Explain(), "Before:") {
			t.Errorf("the explanation of %s lacks a part:\n%s", d.Class, d.Explain())
		}
	}
	if DocOf("no-such-class").Class != "" || Known("no-such-class") {
		t.Error("control: a class that does not exist is known")
	}
}

func TestPrecedence(t *testing.T) {
	for _, row := range []struct {
		first, second Class
	}{{Transplant, StaleBase}, {DeadRetry, StaleRetry}, {StaleRetry, BlindMerge}, {SwallowedConflict, Unknown}, {Unknown, Update}} {
		if !row.first.Before(row.second) || row.second.Before(row.first) {
			t.Errorf("%s must come before %s", row.first, row.second)
		}
	}
}
