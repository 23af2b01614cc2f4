package migrate

import (
	"bytes"
	"fmt"
	"go/token"
	"slices"
)

// An edit replaces what lies between two offsets of a file.
type edit struct {
	from, to int
	text     string
}

// fileEdits are edits by file.
type fileEdits map[string][]edit

func (e fileEdits) replace(fset *token.FileSet, from, to token.Pos, text string) {
	start := fset.Position(from)
	e.add(start.Filename, edit{start.Offset, fset.Position(to).Offset, text})
}

// add takes an edit over, once.
func (e fileEdits) add(file string, one edit) {
	if !slices.Contains(e[file], one) {
		e[file] = append(e[file], one)
	}
}

// apply makes the edits. Two that overlap are an error, unless one lies inside the other and both remove.
func apply(src []byte, list []edit) ([]byte, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out bytes.Buffer
	last := 0
	for _, e := range list {
		if e.from < last {
			if e.to <= last && e.text == "" {
				continue // inside what is gone already
			}
			return nil, fmt.Errorf("two rewrites overlap at offset %d", e.from)
		}
		if e.to > len(src) || e.from > e.to {
			return nil, fmt.Errorf("a rewrite lies outside of the file, at offset %d", e.from)
		}
		out.Write(src[last:e.from])
		out.WriteString(e.text)
		last = e.to
	}
	out.Write(src[last:])
	return out.Bytes(), nil
}
