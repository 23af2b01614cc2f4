package driver

import (
	"strings"
	"testing"
)

// An import is kept or dropped by the name of its package, which its path need not tell.
func TestTidyImports(t *testing.T) {
	const src = "package p\n\nimport (\n\t\"gopkg.in/evanphx/json-patch.v4\"\n\t\"example.com/go-unused\"\n\tother \"example.com/aliased\"\n\t\"example.com/v1status\"\n)\n\n" +
		"var _, _, _ = jsonpatch.Equal, other.X, v1status.Y\n"
	names := map[string]string{"gopkg.in/evanphx/json-patch.v4": "jsonpatch", "example.com/go-unused": "unused", "example.com/aliased": "aliased"}
	out, err := tidyImports("p.go", []byte(src), names)
	if err != nil {
		t.Fatal(err)
	}
	for path, kept := range map[string]bool{"evanphx/json-patch.v4": true, "go-unused": false, "example.com/aliased": true, "example.com/v1status": true} {
		if strings.Contains(string(out), path) != kept {
			t.Errorf("%s is kept: %v, expected %v:\n%s", path, !kept, kept, out)
		}
	}
	if _, err := tidyImports("p.go", []byte("package"), nil); err == nil {
		t.Error("control: a file that does not parse was accepted")
	}
}
