package driver

import (
	"fmt"
	"go/token"
	"os"
	"sort"

	"github.com/aymanbagabas/go-udiff"

	"github.com/statuspatcher/statuspatcher/lint/audit"
	"github.com/statuspatcher/statuspatcher/lint/class"
)

// Fixed is what the safe fixes of a module come to.
type Fixed struct {
	Files  []FixedFile
	Failed []Problem // packages that were left as they are, because they would not compile
	Done   map[*class.Finding]bool
}

// A FixedFile is one file before and after.
type FixedFile struct {
	Name          string
	Before, After []byte
	pkg           string
}

// Fix applies the safe fixes of items in memory, and checks that every package still compiles.
func (m *Module) Fix(load Load, items []Item) (*Fixed, error) {
	byFile := map[string][]Item{}
	for _, it := range items {
		if safeFix(it.Finding) != nil {
			name := m.Fset.Position(it.Finding.Pos).Filename
			byFile[name] = append(byFile[name], it)
		}
	}
	fixed := &Fixed{Done: map[*class.Finding]bool{}}
	owner := map[string][]Item{}
	for name, its := range byFile {
		before, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		after, done, err := apply(m.Fset, name, before, its)
		if err != nil {
			fixed.Failed = append(fixed.Failed, Problem{Package: its[0].Package.PkgPath, Errors: []string{err.Error()}})
			continue
		}
		owner[name] = done
		fixed.Files = append(fixed.Files, FixedFile{Name: name, Before: before, After: after, pkg: its[0].Package.PkgPath})
	}
	sort.Slice(fixed.Files, func(i, j int) bool { return fixed.Files[i].Name < fixed.Files[j].Name })
	if err := m.dropBroken(load, fixed); err != nil {
		return nil, err
	}
	for _, f := range fixed.Files {
		for _, it := range owner[f.Name] {
			fixed.Done[it.Finding] = true
		}
	}
	return fixed, nil
}

func safeFix(f *class.Finding) *class.FixEdit {
	for i := range f.Fixes {
		if f.Fixes[i].Safe {
			return &f.Fixes[i]
		}
	}
	return nil
}

// apply makes the edits of one file. A fix that overlaps an earlier one waits for the next run.
func apply(fset *token.FileSet, name string, src []byte, items []Item) ([]byte, []Item, error) {
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	var done []Item
	taken := func(from, to int) bool {
		for _, e := range edits {
			if from < e.to && e.from < to {
				return true
			}
		}
		return false
	}
	for _, it := range items {
		var own []edit
		clash := false
	edit:
		for _, e := range safeFix(it.Finding).Edits {
			from, to := fset.Position(e.Pos).Offset, fset.Position(e.End).Offset
			// An import that two fixes need, or a fix that mends several sites, is one edit.
			for _, old := range edits {
				if old == (edit{from, to, e.Text}) {
					continue edit
				}
			}
			clash = clash || taken(from, to)
			own = append(own, edit{from, to, e.Text})
		}
		if !clash {
			edits = append(edits, own...)
			done = append(done, it)
		}
	}
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].from < edits[j].from })
	var out []byte
	last := 0
	for _, e := range edits {
		out = append(out, src[last:e.from]...)
		out = append(out, e.text...)
		last = e.to
	}
	out = append(out, src[last:]...)
	tidied, err := tidyImports(name, out)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the fixed file does not parse: %w", name, err)
	}
	return tidied, done, nil
}

// dropBroken type-checks the fixed packages in an overlay and leaves out those that no longer compile.
func (m *Module) dropBroken(load Load, fixed *Fixed) error {
	if len(fixed.Files) == 0 {
		return nil
	}
	broken := map[string]bool{}
	for _, p := range m.Problems {
		broken[p.Package] = true
	}
	load.Overlay = map[string][]byte{}
	load.Patterns = nil
	seen := map[string]bool{}
	for _, f := range fixed.Files {
		load.Overlay[f.Name] = f.After
		if !seen[f.pkg] {
			seen[f.pkg] = true
			load.Patterns = append(load.Patterns, f.pkg)
		}
	}
	again, err := load.Run()
	if err != nil {
		return err
	}
	bad := map[string]bool{}
	for _, p := range again.Problems {
		if !broken[p.Package] {
			bad[p.Package] = true
			fixed.Failed = append(fixed.Failed, p)
		}
	}
	var kept []FixedFile
	for _, f := range fixed.Files {
		if !bad[f.pkg] {
			kept = append(kept, f)
		}
	}
	fixed.Files = kept
	return nil
}

// Diff is a file's change as a unified diff.
func (m *Module) Diff(f FixedFile) string {
	name := audit.Relative(m.Dir, f.Name)
	return udiff.Unified("a/"+name, "b/"+name, string(f.Before), string(f.After))
}

// Write puts a fixed file in place, with the mode that it had.
func (f FixedFile) Write() error {
	info, err := os.Stat(f.Name)
	if err != nil {
		return err
	}
	return os.WriteFile(f.Name, f.After, info.Mode().Perm())
}
