//go:generate go run ./classdoc ../../../docs/lint.md

package class

import (
	"fmt"
	"strings"
)

// Reference is the reference of the classes, in Markdown: a table, and below it a section for each class.
func Reference() string {
	var b strings.Builder
	b.WriteString("| class | verdict | what it is |\n|---|---|---|\n")
	for _, d := range table {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", d.Class, d.Anchor(), d.Verdict, d.Title)
	}
	for _, d := range table {
		fmt.Fprintf(&b, "\n### %s\n\n%s. %s\n", d.Class, d.Title, oneLine(d.Text))
		writeCode(&b, "Before", d.Before)
		writeCode(&b, "After", d.After)
	}
	return b.String()
}

func writeCode(b *strings.Builder, title, code string) {
	if code != "" {
		fmt.Fprintf(b, "\n%s:\n\n```go\n%s\n```\n", title, code)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Explain is what the command line prints about one class.
func (d Doc) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (verdict: %s)\n\n%s.\n%s\n", d.Class, d.Verdict, d.Title, d.Text)
	for _, part := range []struct{ title, code string }{{"Before", d.Before}, {"After", d.After}} {
		if part.code != "" {
			fmt.Fprintf(&b, "\n%s:\n\n\t%s\n", part.title, strings.ReplaceAll(part.code, "\n", "\n\t"))
		}
	}
	return b.String()
}

// Summary lists the classes to fix with their titles, one in a line.
func Summary() string {
	var b strings.Builder
	for _, d := range table {
		if d.Verdict == Fix {
			fmt.Fprintf(&b, "  %-18s  %s\n", d.Class, d.Title)
		}
	}
	return b.String()
}

const (
	beginReference = "<!-- begin classes -->\n"
	endReference   = "<!-- end classes -->"
)

// WithReference puts the reference between the comments of a document that mark its place.
func WithReference(document string) (string, error) {
	before, rest, found := strings.Cut(document, beginReference)
	_, after, closed := strings.Cut(rest, endReference)
	if !found || !closed {
		return "", fmt.Errorf("the document lacks the comments %q and %q", strings.TrimSpace(beginReference), endReference)
	}
	return before + beginReference + "\n" + Reference() + "\n" + endReference + after, nil
}
