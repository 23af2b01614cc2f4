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

// closeGaps lets the blank line go that follows removed lines, where another one or the start of a block precedes them. What is removed
// in several edits counts as one.
func closeGaps(src []byte, list []edit) []edit {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b edit) int { return a.from - b.from })
	start, end, last := -1, -1, -1
	closeLast := func() {
		if last >= 0 && end < len(src) && src[end] == '\n' && blankBefore(src, start) {
			list[last].to++
		}
	}
	for i, e := range list {
		if e.text != "" || e.from == 0 || src[e.from-1] != '\n' || src[e.to-1] != '\n' {
			continue
		}
		if e.from > end {
			closeLast()
			start = e.from
		}
		if e.to > end {
			end, last = e.to, i
		}
	}
	closeLast()
	return list
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
