package typecheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

const vendored = `
-- go.mod --
module example.com/app

go 1.24

require example.com/lib v1.0.0
-- vendor/modules.txt --
# example.com/lib v1.0.0
## explicit
example.com/lib
-- vendor/example.com/lib/lib.go --
package lib

import "net/http"

func New() *http.Client { return nil }
-- app/app.go --
package app

import "example.com/lib"

var Timeout = lib.New().FIELD
-- other/other.go --
package other

func f() {
	unused := 1
}
`

func TestModule(t *testing.T) {
	for _, tt := range []struct {
		name, field, pattern, want string
	}{
		{"compiles", "Timeout", "./app", ""},
		{"against what is vendored", "Missing", "./app", "example.com/app/app: $DIR/app/app.go:5:25: lib.New().Missing undefined (type *http.Client has no field or method Missing)"},
		{"inside of a function", "Timeout", "./other", "example.com/app/other: $DIR/other/other.go:4:2: declared and not used: unused"},
		{"not there", "Timeout", "./none", "./none: -: stat $DIR/none: directory not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := module(t, tt.field)
			got := ""
			if err := Module(dir, append(os.Environ(), "GOFLAGS=-mod=vendor", "GOWORK=off"), tt.pattern); err != nil {
				got = strings.ReplaceAll(err.Error(), dir, "$DIR")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// module writes the files, with the field that the application uses.
func module(t *testing.T, field string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(strings.ReplaceAll(vendored, "FIELD", field))).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
