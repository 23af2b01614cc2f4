package lint_test

import (
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
)

// An interface, what implements it and who calls it in three packages: the whole program shows the callers' patches, one
// package does not.
func TestInterfacesAcrossPackages(t *testing.T) {
	opts := check.Options{Ban: true}
	for _, row := range []struct {
		patterns     []string
		patch, store string
	}{
		{[]string{"./program/..."}, "blind-merge", "locked"},
		{[]string{"./program/storing"}, "unknown", "unknown"},
	} {
		got := classes(load(t, row.patterns...), opts)
		if got["storing.(*Store).Patch"] != row.patch || got["storing.(*Store).Store"] != row.store {
			t.Errorf("%v: %v, expected %s and %s", row.patterns, got, row.patch, row.store)
		}
	}
}
