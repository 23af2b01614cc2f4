package driver

import (
	"fmt"
	"go/format"
	"go/token"
	"os"
	"sort"
)

// An edit replaces what lies between two offsets of a file.
type edit struct {
	from, to int
	text     string
}

func (e edit) overlaps(o edit) bool { return e.from < o.to && o.from < e.to }

// edits are those of a package, by file.
type edits map[string][]edit

// collect gathers the edits of the safe fixes. A fix that overlaps an earlier one waits for the next run, with all its edits.
func collect(fset *token.FileSet, items []Item) (edits, []Item) {
	all := edits{}
	var done []Item
	for _, it := range items {
		own := edits{}
		for _, e := range safeFix(it.Finding).Edits {
			from, to := fset.Position(e.Pos), fset.Position(e.End)
			own[from.Filename] = append(own[from.Filename], edit{from.Offset, to.Offset, e.Text})
		}
		if all.add(own) {
			done = append(done, it)
		}
	}
	return all, done
}

// add takes over all edits, or none if one overlaps. An edit that fixes several sites is made once.
func (all edits) add(own edits) bool {
	fresh := edits{}
	for file, list := range own {
		for _, e := range list {
			same, clash := false, false
			for _, old := range all[file] {
				same = same || old == e
				clash = clash || old.overlaps(e)
			}
			if clash && !same {
				return false
			}
			if !same {
				fresh[file] = append(fresh[file], e)
			}
		}
	}
	for file, list := range fresh {
		all[file] = append(all[file], list...)
	}
	return true
}

// apply makes the edits, and formats the files.
func (all edits) apply(pkg string) ([]FixedFile, error) {
	var files []FixedFile
	for name, list := range all {
		before, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		after, err := format.Source(replace(before, list))
		if err != nil {
			return nil, fmt.Errorf("%s: the fixed file does not parse: %w", name, err)
		}
		files = append(files, FixedFile{Name: name, Before: before, After: after, pkg: pkg})
	}
	return files, nil
}

func replace(src []byte, list []edit) []byte {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.from < b.from || a.from == b.from && a.to < b.to
	})
	var out []byte
	last := 0
	for _, e := range list {
		out = append(out, src[last:e.from]...)
		out = append(out, e.text...)
		last = e.to
	}
	return append(out, src[last:]...)
}
