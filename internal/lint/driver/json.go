package driver

import (
	"encoding/json"
	"go/token"
	"io"

	"golang.org/x/tools/go/analysis"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
)

// The shapes of an analysis driver's -json output.
type jsonDiagnostic struct {
	Category       string        `json:"category,omitempty"`
	Posn           string        `json:"posn"`
	End            string        `json:"end"`
	Message        string        `json:"message"`
	SuggestedFixes []jsonFix     `json:"suggested_fixes,omitempty"`
	Related        []jsonRelated `json:"related,omitempty"`
}

type jsonFix struct {
	Message string     `json:"message"`
	Edits   []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	Filename string `json:"filename"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	New      string `json:"new"`
}

type jsonRelated struct {
	Posn    string `json:"posn"`
	Message string `json:"message"`
}

// WriteJSON prints diagnostics as analysis drivers do: by package, then by analyzer.
func WriteJSON(w io.Writer, fset *token.FileSet, items []Item, ds []Directive) error {
	tree := map[string]map[string][]jsonDiagnostic{}
	add := func(pkg string, d jsonDiagnostic) {
		if tree[pkg] == nil {
			tree[pkg] = map[string][]jsonDiagnostic{}
		}
		tree[pkg][check.Name] = append(tree[pkg][check.Name], d)
	}
	for _, it := range items {
		add(it.Package.ID, diagnostic(fset, check.Diagnostic(it.Finding)))
	}
	for _, d := range ds {
		posn := fset.Position(d.Pos).String()
		add(d.Package.ID, jsonDiagnostic{Category: "directive", Posn: posn, End: posn, Message: d.Message})
	}
	return encode(w, tree)
}

// WriteDiagnostics prints the diagnostics of one package the same way.
func WriteDiagnostics(w io.Writer, fset *token.FileSet, id string, ds []analysis.Diagnostic) error {
	tree := map[string]map[string][]jsonDiagnostic{}
	for _, d := range ds {
		if tree[id] == nil {
			tree[id] = map[string][]jsonDiagnostic{}
		}
		tree[id][check.Name] = append(tree[id][check.Name], diagnostic(fset, d))
	}
	return encode(w, tree)
}

func encode(w io.Writer, tree any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	enc.SetEscapeHTML(false)
	return enc.Encode(tree)
}

func diagnostic(fset *token.FileSet, d analysis.Diagnostic) jsonDiagnostic {
	out := jsonDiagnostic{Category: d.Category, Posn: fset.Position(d.Pos).String(), End: fset.Position(d.End).String(), Message: d.Message}
	for _, r := range d.Related {
		out.Related = append(out.Related, jsonRelated{Posn: fset.Position(r.Pos).String(), Message: r.Message})
	}
	for _, fix := range d.SuggestedFixes {
		jf := jsonFix{Message: fix.Message}
		for _, e := range fix.TextEdits {
			p := fset.Position(e.Pos)
			jf.Edits = append(jf.Edits, jsonEdit{p.Filename, p.Offset, fset.Position(e.End).Offset, string(e.NewText)})
		}
		out.SuggestedFixes = append(out.SuggestedFixes, jf)
	}
	return out
}
