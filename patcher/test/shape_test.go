package patcher_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Generated equality that did not know a field would skip its writes in silence.
func TestS19_AChangedTypeDoesNotCompile(t *testing.T) {
	for _, row := range []struct {
		name, old, changed string
		compiles           bool
	}{
		{"control: unchanged", "Phase string", "Phase string", true},
		{"a field more", "type CellStatus struct {", "type CellStatus struct {\n\tExtra string `json:\"extra,omitempty\"`", false},
		{"a field less", "\tCounter int64 `json:\"counter,omitempty\"`\n", "", false},
		{"another type", "Counter int64", "Counter int32", false},
		{"another tag", `json:"tier,omitempty"`, `json:"tier"`, false},
		{"a field more, in a nested type that is compared field by field", "type Plan struct {", "type Plan struct {\n\tExtra []string `json:\"extra,omitempty\"`", false},
		{"a field more, in a type that is compared with ==, which knows it at once", "type Share struct {", "type Share struct {\n\tExtra string `json:\"extra,omitempty\"`", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if errs := compileWith(t, row.old, row.changed); (len(errs) == 0) != row.compiles {
				t.Errorf("compiles: %v, want %v: %v", len(errs) == 0, row.compiles, errs)
			}
		})
	}
}

// compileWith type-checks the generated package against cell_types.go in which old is replaced.
func compileWith(t *testing.T, old, changed string) []packages.Error {
	t.Helper()
	path, err := filepath.Abs("../internal/testapi/v1/cell_types.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), old) {
		t.Fatalf("%s has no %q any more", path, old)
	}
	edited := strings.Replace(string(source), old, changed, 1)
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedImports | packages.NeedExportFile |
			packages.NeedTypesInfo | packages.NeedFiles | packages.NeedCompiledGoFiles,
		Overlay: map[string][]byte{path: []byte(edited)},
	}, "../internal/testapi/v1/v1status")
	if err != nil {
		t.Fatal(err)
	}
	return loaded[0].Errors
}
