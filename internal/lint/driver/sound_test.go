package driver

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// chain is a package with an error, under as many packages as asked for, and the top one.
func chain(length int) (broken, top *packages.Package) {
	broken = &packages.Package{ID: "broken", PkgPath: "example.com/broken", Errors: []packages.Error{{Msg: "no required module provides it"}}}
	top = broken
	for i := range length {
		path := fmt.Sprintf("example.com/dep%d", i)
		top = &packages.Package{ID: path, PkgPath: path, Imports: map[string]*packages.Package{top.PkgPath: top}}
	}
	return broken, top
}

func importing(path string, imports ...*packages.Package) *packages.Package {
	p := &packages.Package{ID: path, PkgPath: path, Imports: map[string]*packages.Package{}}
	for _, imp := range imports {
		p.Imports[imp.PkgPath] = imp
	}
	return p
}

// Packages are left out, and named with what is missing, only where a load would take much from source, and only those
// that lead there.
func TestUnsound(t *testing.T) {
	for _, row := range []struct {
		name   string
		length int
		out    []string
	}{
		{"many", maxFromSource + 1, []string{"example.com/deep"}},
		{"control: few", 3, nil},
	} {
		broken, top := chain(row.length)
		roots := []*packages.Package{importing("example.com/deep", top), importing("example.com/direct", broken), importing("example.com/fine")}
		u := unsoundAmong(roots)
		if row.out == nil {
			if u != nil {
				t.Errorf("%s: left out %v", row.name, u.problems)
			}
			continue
		}
		if u == nil || len(u.problems) != 1 || !u.problems[0].LeftOut || !slices.Equal(u.sound, []string{"example.com/direct", "example.com/fine"}) {
			t.Fatalf("%s: %+v", row.name, u)
		}
		want := "it depends on example.com/broken, which cannot be loaded: no required module provides it"
		if got := u.problems[0]; got.Package != "example.com/deep" || got.Errors[0] != want {
			t.Errorf("%s: %+v, expected %q", row.name, got, want)
		}
	}
}
