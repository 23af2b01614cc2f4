package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBesideOtherGenerators: the other generators of the field make the same files with and without our output in the tree, in
// a child package and in the API package.
func TestBesideOtherGenerators(t *testing.T) {
	want := othersOutput(t)
	for _, name := range []string{"crd/app.example.com_cells.yaml", "rbac/role.yaml", "api/v1/zz_generated.deepcopy.go", "api/v1/applyconfiguration/api/v1/cell.go", "api/v1/zz_copies.go"} {
		if want[name] == "" {
			t.Fatalf("there is no %s among %v", name, names(want))
		}
	}
	for _, output := range []string{"", "output:same"} {
		t.Run("with "+output, func(t *testing.T) {
			args := strings.Fields("paths=./api/... " + output)
			if diff := cmp.Diff(want, othersOutput(t, args...)); diff != "" {
				t.Errorf("the other generators make something else (-without +with our output):\n%s", diff)
			}
		})
	}
}

// othersOutput runs the other generators over the module, after ours if there are args, and returns the files that they made.
func othersOutput(t *testing.T, args ...string) map[string]string {
	t.Helper()
	m := operator(t)
	m.replace("api/v1/types.go", "// +kubebuilder:object:root=true\n", "// +genclient\n// +kubebuilder:object:root=true\n// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n")
	m.write("api/v1/doc.go", "// +k8s:deepcopy-gen=package\n// +kubebuilder:ac:generate=true\n\n// Package v1 is the API.\npackage v1\n")
	m.write("controller/cell.go", "package controller\n\n// +kubebuilder:rbac:groups=app.example.com,resources=cells;cells/status,verbs=get;patch\n")
	if err := os.RemoveAll(filepath.Join(m.dir, "api", "v2")); err != nil {
		t.Fatal(err)
	}
	if len(args) > 0 {
		m.mustGenerate(args...)
	}
	before := m.files()
	m.mustRun("go", "tool", "controller-gen", "object", "crd", "rbac:roleName=app", "paths=./...", "output:crd:dir=crd", "output:rbac:dir=rbac")
	m.mustRun("go", "tool", "controller-gen", "applyconfiguration", "paths=./api/...")
	out := m.files()
	if err := os.Remove(filepath.Join(m.dir, "api/v1/zz_generated.deepcopy.go")); err != nil {
		t.Fatal(err)
	}
	m.mustRun("go", "run", "k8s.io/code-generator/cmd/deepcopy-gen", "--output-file=zz_copies.go", "./api/v1")
	out["api/v1/zz_copies.go"] = m.read("api/v1/zz_copies.go")
	for name, content := range before {
		if out[name] == content {
			delete(out, name)
		}
	}
	delete(out, "go.sum")
	delete(out, "go.mod")
	return out
}

// files are the contents of all files by their names in the module.
func (m *testModule) files() map[string]string {
	m.Helper()
	out := map[string]string{}
	for path, content := range m.tree() {
		rel, err := filepath.Rel(m.dir, path)
		if err != nil {
			m.Fatal(err)
		}
		if _, text, isFile := strings.Cut(content, "\n"); isFile {
			out[filepath.ToSlash(rel)] = text
		}
	}
	return out
}

func names(files map[string]string) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	return out
}
