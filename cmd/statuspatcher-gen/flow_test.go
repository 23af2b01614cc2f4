package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

const generatedFile = "api/v1/v1status/zz_generated.statuspatcher.go"

// operator is a module with an API and a controller that imports the package which is to be generated.
func operator(t *testing.T) *testModule {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/operator.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return newModule(t, archive.Files)
}

// TestFirstGeneration: the controller already imports a package that is not there yet. Afterwards everything compiles and vets,
// and when a field is added to the status, the old output does not, and is generated again all the same.
func TestFirstGeneration(t *testing.T) {
	t.Parallel()
	m := operator(t)
	if out, err := m.command("go", "build", "./..."); err == nil {
		t.Fatalf("the module compiles before anything is generated:\n%s", out)
	}
	m.mustGenerate("paths=./...")
	m.mustRun("go", "vet", "./...")

	m.replace("api/v1/types.go", "\tPhase string `json:\"phase,omitempty\"`\n", "\tPhase string `json:\"phase,omitempty\"`\n\tReason string `json:\"reason,omitempty\"`\n")
	if out, err := m.command("go", "build", "./..."); err == nil || !strings.Contains(out, "cannot use v1.CellStatus{}") {
		t.Fatalf("the old output does not notice a new field: %v\n%s", err, out)
	}
	m.mustGenerate("paths=./...")
	m.mustRun("go", "vet", "./...")
	if !strings.Contains(m.read(generatedFile), "a.Reason == b.Reason") {
		t.Error("the new field is not compared")
	}
}

// TestGoGenerate: the generator is a tool of the module.
func TestGoGenerate(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("generate.go", "package app\n\n//go:generate go tool statuspatcher-gen paths=./...\n")
	m.mustRun("go", "generate", "./...")
	m.mustGenerate("paths=./...", "verify")
}

// TestNothingToDo: bytes depend neither on the order of the paths nor on the directory, and a second run touches no file.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	m, elsewhere := operator(t), operator(t)
	m.mustGenerate("paths=./api/v1/...", "paths=./api/v2/...")
	elsewhere.mustGenerate("paths=./api/v2;./api/v1")
	for _, name := range []string{generatedFile, "api/v2/v2status/zz_generated.statuspatcher.go"} {
		if diff := cmp.Diff(m.read(name), elsewhere.read(name)); diff != "" {
			t.Errorf("%s differs:\n%s", name, diff)
		}
	}
	before := m.tree()
	for _, args := range [][]string{{"paths=./..."}, {"paths=./api/..."}, {"paths=example.com/app/api/..."}, {"paths=./api/v2/...", "paths=./api/v1/types.go"}, {"paths=./...", "verify"}} {
		m.mustGenerate(args...)
		if diff := cmp.Diff(before, m.tree()); diff != "" {
			t.Errorf("%v touches files:\n%s", args, diff)
		}
	}
}

// TestRemoval: what is not asked for any more goes, with its directory; what others wrote stays.
func TestRemoval(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(m *testModule)
		kept []string
	}{
		{"the marker is gone", func(m *testModule) {
			m.replace("api/v1/types.go", "// +statuspatcher:generate=true\n", "")
		}, nil},
		{"the marker is false", func(m *testModule) { m.replace("api/v1/types.go", "generate=true", "generate=false") }, nil},
		{"the kind is gone", func(m *testModule) { m.write("api/v1/types.go", "package v1\n") }, nil},
		{"the package is gone", func(m *testModule) {
			if err := os.Remove(filepath.Join(m.dir, "api/v1/types.go")); err != nil {
				m.Fatal(err)
			}
		}, nil},
		{"there is something else", func(m *testModule) {
			m.replace("api/v1/types.go", "// +statuspatcher:generate=true\n", "")
			m.write("api/v1/v1status/helpers.go", "package v1status\n")
		}, []string{"api/v1/v1status/helpers.go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			m.mustGenerate("paths=./...")
			tt.edit(m)
			if exit, stdout, _ := m.generate("paths=./...", "verify"); exit != exitWrong || !strings.Contains(stdout, "+++ /dev/null") {
				t.Errorf("verify: exit %d\n%s", exit, stdout)
			}
			m.mustGenerate("paths=./...")
			if m.exists(generatedFile) {
				t.Error("the file stays")
			}
			for _, name := range tt.kept {
				if !m.exists(name) {
					t.Errorf("%s is gone", name)
				}
			}
			if len(tt.kept) == 0 && m.exists("api/v1/v1status") {
				t.Error("the empty directory stays")
			}
			if !m.exists("api/v2/v2status/zz_generated.statuspatcher.go") {
				t.Error("the file of the other package is gone")
			}
		})
	}
}

// TestNotOurs: files of other runs, and files by hand, in the directories of this one.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.mustGenerate("types=example.com/app/api/v1.Cell", "output:dir=internal/foreignstatus")
	m.mustGenerate("paths=./api/v2", "output:dir=internal/v2patchers")
	m.write("api/v1/v1status/extra.go", "package v1status\n")
	before := m.tree()
	m.mustGenerate("paths=./...")
	after := m.tree()
	for path, content := range before {
		if after[path] != content {
			t.Errorf("%s changed", path)
		}
	}
	m.mustRun("go", "vet", "./...")
}

// TestSwitch: from the child package into the API package and back, nothing is left behind.
func TestSwitch(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.mustGenerate("paths=./...")
	m.mustGenerate("paths=./...", "output:same")
	if m.exists("api/v1/v1status") || !m.exists("api/v1/zz_generated.statuspatcher.go") {
		t.Error("output:same leaves the child package, or writes no file")
	}
	m.mustRun("go", "vet", "./api/...")
	m.mustGenerate("paths=./...")
	if m.exists("api/v1/zz_generated.statuspatcher.go") {
		t.Error("the file in the API package stays")
	}
	m.mustRun("go", "vet", "./...")
}

// TestBrokenElsewhere: code that does not compile counts only if a status is made of it.
func TestBrokenElsewhere(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("api/v1/broken.go", "package v1\n\nimport \"example.com/nowhere\"\n\nvar broken nowhere.Type = undefined()\n\ntype Unused struct{ Field Missing }\n\nfunc (c *Cell) Hub() int { return \"\" }\n")
	m.replace("api/v1/types.go", "\tSize int32 `json:\"size,omitempty\"`", "\tSize Missing `json:\"size,omitempty\"`")
	m.write("controller/syntax.go", "package controller\n\nfunc {\n")
	m.mustGenerate("paths=./...")
	m.replace("api/v1/types.go", "\tPhase string", "\tPhase Missing")
	if exit, _, stderr := m.generate("paths=./..."); exit != exitWrong || !strings.Contains(stderr, "undefined: Missing") {
		t.Errorf("a status of a type that there is not: exit %d\n%s", exit, stderr)
	}
}

// TestNestedModule: "..." ends where another module begins.
func TestNestedModule(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("tools/go.mod", "module example.com/tools\n")
	m.write("tools/api/types.go", strings.ReplaceAll(m.read("api/v1/types.go"), "package v1", "package api"))
	m.mustGenerate("paths=./...")
	if m.exists("tools/api/apistatus") {
		t.Error("the nested module has output")
	}
}

// TestTags: a file that a build tag brings in.
func TestTags(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("api/v1/more.go", "//go:build more\n\n"+strings.NewReplacer("Cell", "Node").Replace(m.read("api/v1/types.go")))
	m.mustGenerate("paths=./...", "tags=more")
	if !strings.Contains(m.read(generatedFile), "NewNodeStatusClient") {
		t.Error("the kind of the tagged file has no patcher")
	}
}

func (m *testModule) exists(name string) bool {
	_, err := os.Stat(filepath.Join(m.dir, filepath.FromSlash(name)))
	return err == nil
}

// TestReadOnly: an API directory that cannot be written to.
func TestReadOnly(t *testing.T) {
	heedPermissions(t)
	m := operator(t)
	dir := filepath.Join(m.dir, "api", "v1")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	exit, _, stderr := m.generate("paths=./...")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if exit != exitWrong || !strings.Contains(stderr, generatedFile+": cannot be written (permission denied)") || m.exists("api/v2/v2status") {
		t.Errorf("exit %d, output of the other package %v\n%s", exit, m.exists("api/v2/v2status"), stderr)
	}
}

// TestKindInStatus: a status that reaches kinds, its own and another marked one, compares them whole, with their specs.
func TestKindInStatus(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.replace("api/v1/types.go", "\tNames []string `json:\"names,omitempty\"`\n", "\tNames []string `json:\"names,omitempty\"`\n\tChildren []Cell `json:\"children,omitempty\"`\n\tImport *Image `json:\"import,omitempty\"`\n")
	m.write("api/v1/image.go", `package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +statuspatcher:generate=true
type Image struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
	Spec   ImageSpec   `+"`json:\"spec,omitempty\"`"+`
	Status ImageStatus `+"`json:\"status,omitempty\"`"+`
}

type ImageSpec struct { Tags map[string]string }

type ImageStatus struct { Digest string }
`)
	m.mustRun("go", "tool", "controller-gen", "object", "paths=./api/v1")
	m.mustGenerate("paths=./...")
	m.mustRun("go", "vet", "./...")
	if !strings.Contains(m.read(generatedFile), "a.Spec == b.Spec") {
		t.Error("the spec of a kind in a status is not compared")
	}
}

// TestLocks: generated code copies no lock of a kind that holds one, as those with protobuf messages do.
func TestLocks(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("api/v1/message.go", "package v1\n\nimport \"sync\"\n\n// Message is like one of protobuf.\ntype Message struct{ state sync.Mutex }\n\n// DeepCopyInto shares nothing.\nfunc (in *Message) DeepCopyInto(out *Message) {}\n")
	m.replace("api/v1/types.go", "\tSpec   CellSpec   `json:\"spec,omitempty\"`", "\tSpec   Message   `json:\"spec,omitempty\"`")
	m.replace("api/v1/zz_generated.deepcopy.go", "\t*out = *in\n\tout.TypeMeta", "\tout.TypeMeta")
	m.replace("api/v1/zz_generated.deepcopy.go", "\tout.Spec = in.Spec\n", "\tin.Spec.DeepCopyInto(&out.Spec)\n")
	m.mustGenerate("paths=./...")
	m.mustRun("go", "vet", "./...")
	m.write(generatedFile, strings.Replace(m.read(generatedFile), "patcher.Assign[v1.Cell],", "func(dst, src *v1.Cell) { *dst = *src },", 1))
	if out, err := m.command("go", "vet", "./api/v1/v1status"); err == nil || !strings.Contains(out, "copies lock value") {
		t.Errorf("control: vet does not see the lock: %v\n%s", err, out)
	}
}
