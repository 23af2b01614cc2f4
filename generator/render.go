package generator

import (
	"bytes"
	"go/format"
	"io/fs"
	"text/template"
)

// A renderer turns models into formatted source.
type renderer struct{ text *template.Template }

func newRenderer(templates fs.FS) (*renderer, error) {
	text, err := template.ParseFS(templates, "*.tmpl")
	return &renderer{text: text}, err
}

func (r *renderer) render(f *file) ([]byte, error) {
	var out bytes.Buffer
	if err := r.text.ExecuteTemplate(&out, "file.go.tmpl", f); err != nil {
		return nil, err
	}
	return format.Source(out.Bytes())
}
