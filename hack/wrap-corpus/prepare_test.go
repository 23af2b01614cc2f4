package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportHook(t *testing.T) {
	for _, row := range []struct{ file, content, want string }{
		{"a_test.go", "package controller\n", "package controller\n"},
		{"a_test.go", "package controller_test\n", "package controller_test\n"},
		{"a.go", "package controller\n", ""}, // no tests
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, row.file), row.content)
		for range 2 { // a second run finds the file of the first
			err := importHook(dir, "example.com/operator")
			content, _ := os.ReadFile(filepath.Join(dir, ownTest))
			if row.want == "" {
				if err == nil || len(content) > 0 {
					t.Errorf("%s: %v, and wrote %q", row.file, err, content)
				}
				continue
			}
			if err != nil || !strings.HasPrefix(string(content), row.want) || !strings.Contains(string(content), `import _ "example.com/operator/zz_wrapcorpus/hook"`) {
				t.Errorf("%q: %v, and wrote %q", row.content, err, content)
			}
		}
	}
}

// An edit that does not apply must fail: the tests would pass on bare clients.
func TestRenameOnce(t *testing.T) {
	const old, new = "\nfunc New(", "\nfunc newBare("
	for _, row := range []struct{ content, want string }{
		{"package client\n\nfunc New(c int) {}\n", "package client\n\nfunc newBare(c int) {}\n"},
		{"package client\n\nfunc NewClient(c int) {}\n", ""},
		{"package client\n\nfunc New(c int) {}\nfunc New(c int) {}\n", ""},
	} {
		got, err := renameOnce("client.go", row.content, old, new)
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%q becomes %q, %v; expected %q", row.content, got, err, row.want)
		}
	}
}

func TestReadResults(t *testing.T) {
	got := readTests("pkg", []byte(`{"Action":"run","Test":"A"}
{"Action":"pass","Test":"A"}
{"Action":"run","Test":"Ends"}
not JSON
{"Action":"run","Test":"S"}
{"Action":"skip","Test":"S"}
`))
	specs := filepath.Join(t.TempDir(), "specs.json")
	write(t, specs, `[{"SpecReports":[
		{"ContainerHierarchyTexts":["a"],"LeafNodeType":"It","LeafNodeText":"works","State":"passed"},
		{"ContainerHierarchyTexts":["a"],"LeafNodeType":"It","LeafNodeText":"panics","State":"panicked"},
		{"LeafNodeType":"BeforeSuite","State":"failed"},
		{"LeafNodeType":"It","LeafNodeText":"later","State":"pending"}]}]`)
	if err := readSpecs(specs, "pkg", got); err != nil {
		t.Fatal(err)
	}
	want := results{"pkg A": "pass", "pkg Ends": "fail", "pkg S": "skip", "pkg a works": "pass", "pkg a panics": "fail", "pkg [BeforeSuite] ": "fail", "pkg later": "skip"}
	for name, result := range want {
		if got[name] != result {
			t.Errorf("%q: %q, expected %q", name, got[name], result)
		}
	}
	if len(got) != len(want) {
		t.Errorf("read %v", got)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
