package generator

import (
	"bytes"
	"fmt"
	"go/format"
	"text/template"

	"github.com/statuspatcher/statuspatcher/templates"
)

// A renderer turns models into formatted source.
type renderer struct{ text *template.Template }

func newRenderer() (*renderer, error) {
	text, err := template.ParseFS(templates.FS, "*.tmpl")
	return &renderer{text: text}, err
}

func (r *renderer) render(f *file) ([]byte, error) {
	var out bytes.Buffer
	if err := r.text.ExecuteTemplate(&out, "file.go.tmpl", f); err != nil {
		return nil, err
	}
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the generated file of package %s does not parse, which is a fault of statuspatcher-gen: %w\n%s", f.Package, err, numbered(out.Bytes()))
	}
	return formatted, nil
}

// numbered makes the lines that an error of the formatter speaks of easy to find.
func numbered(source []byte) []byte {
	var out bytes.Buffer
	n := 0
	for line := range bytes.Lines(source) {
		n++
		fmt.Fprintf(&out, "%5d\t%s", n, line)
	}
	return out.Bytes()
}
