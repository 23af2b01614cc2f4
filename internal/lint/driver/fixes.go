package driver

import (
	"os"
	"slices"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/unified"
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

// dropBroken loads the fixed packages in an overlay, and leaves out those that no longer compile: what a fix did not foresee must
// not become a bug of another kind.
func (m *Module) dropBroken(load Load, fixed *Fixed) (bad map[string]bool, err error) {
	if len(fixed.Files) == 0 {
		return nil, nil
	}
	load.Overlay, load.Patterns = map[string][]byte{}, nil
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
	for _, p := range m.newErrors(again) {
		bad[p.Package] = true
		fixed.Failed = append(fixed.Failed, p)
	}
	fixed.Files = slices.DeleteFunc(fixed.Files, func(f FixedFile) bool { return bad[f.pkg] })
	return bad, nil
}

// newErrors are the packages that had no errors before.
func (m *Module) newErrors(again *Module) []Problem {
	return slices.DeleteFunc(slices.Clone(again.Problems), func(p Problem) bool {
		return slices.ContainsFunc(m.Problems, func(old Problem) bool { return old.Package == p.Package })
	})
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
