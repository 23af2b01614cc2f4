package lint_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/statuspatcher/statuspatcher/lint"
)

// fixture is a module with its own go.mod, against the real controller-runtime.
func fixture(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// With ban every site is reported, so each expectation says the class of one site, and no site is missing or too many.
// The packages are loaded at once, which is most of the test's time.
func TestClasses(t *testing.T) {
	analysistest.Run(t, fixture(t, "cells"), lint.New(&lint.Options{Ban: true}),
		"./blindmerge", "./blindjson", "./blindupdate", "./blindapply", "./locked", "./stalebase", "./aliasedbase", "./deadretry",
		"./transplant", "./swallowed", "./staleretry", "./rawrest", "./updates", "./reach", "./interfaces", "./flags", "./testcode", "./unseen")
}

// Without ban only what is wrong is reported.
func TestPatchersAndDirectives(t *testing.T) {
	analysistest.Run(t, fixture(t, "cells"), lint.New(&lint.Options{}), "./patchers", "./directives", "./support")
}
