package driver

import (
	"os"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/unified"

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
	byPackage := map[string][]Item{}
	for _, it := range items {
		if safeFix(it.Finding) != nil {
			byPackage[it.Package.PkgPath] = append(byPackage[it.Package.PkgPath], it)
		}
	}
	fixed := &Fixed{Done: map[*class.Finding]bool{}}
	for pkg, its := range byPackage {
		changes, done := collect(m.Fset, its)
		files, err := changes.apply(pkg)
		if err != nil {
			fixed.Failed = append(fixed.Failed, Problem{Package: pkg, Errors: []string{err.Error()}})
			continue
		}
		fixed.Files = append(fixed.Files, files...)
		for _, it := range done {
			fixed.Done[it.Finding] = true
		}
	}
	sort.Slice(fixed.Files, func(i, j int) bool { return fixed.Files[i].Name < fixed.Files[j].Name })
	broken, err := m.dropBroken(load, fixed)
	for _, it := range items {
		if broken[it.Package.PkgPath] {
			delete(fixed.Done, it.Finding)
		}
	}
	return fixed, err
}

func safeFix(f *class.Finding) *class.FixEdit {
	for i := range f.Fixes {
		if f.Fixes[i].Safe {
			return &f.Fixes[i]
		}
	}
	return nil
}

// dropBroken type-checks the fixed packages in an overlay, and leaves out those that no longer compile.
func (m *Module) dropBroken(load Load, fixed *Fixed) (bad map[string]bool, err error) {
	if len(fixed.Files) == 0 {
		return nil, nil
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
		return nil, err
	}
	bad = map[string]bool{}
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
	return bad, nil
}

// Diff is a file's change as a unified diff.
func (m *Module) Diff(f FixedFile) string {
	name := audit.Relative(m.Dir, f.Name)
	return unified.Diff("a/"+name, "b/"+name, f.Before, f.After)
}

// Write puts a fixed file in place, with the mode that it had.
func (f FixedFile) Write() error {
	info, err := os.Stat(f.Name)
	if err != nil {
		return err
	}
	return os.WriteFile(f.Name, f.After, info.Mode().Perm())
}
