package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// copied copies the packages in a folder of a module that this one depends on, and marks their kinds.
func copied(module, folder string) func(string) error {
	return func(dir string) error {
		if err := newModule(dir); err != nil {
			return err
		}
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			return err
		}
		from := filepath.Join(strings.TrimSpace(string(out)), folder)
		return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := entry.Name()
			if entry.IsDir() && (name == "testdata" || strings.HasSuffix(name, "status")) {
				return fs.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			to := filepath.Join(dir, rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, mark(source), 0o644)
		})
	}
}

var (
	structs = regexp.MustCompile(`(?ms)^type \w+ struct \{.*?^\}`)
	object  = regexp.MustCompile(`(?m)^\tmetav1\.ObjectMeta|^\tmetav1\.TypeMeta`)
	status  = regexp.MustCompile(`(?m)^\tStatus +\w+`)
	ours    = regexp.MustCompile(`(?m)^// \+statuspatcher:.*\n`)
)

// mark puts a marker on each kind that has a status.
func mark(source []byte) []byte {
	source = ours.ReplaceAll(source, nil)
	return structs.ReplaceAllFunc(source, func(text []byte) []byte {
		if len(object.FindAll(text, -1)) < 2 || !status.Match(text) {
			return text
		}
		markers := "// +kubebuilder:object:root=true\n// +kubebuilder:subresource:status\n// +statuspatcher:generate=true\n"
		return append([]byte(markers), text...)
	})
}

// kinds writes a module of n kinds, in packages of ten.
func kinds(n int) func(string) error {
	return func(dir string) error {
		if err := newModule(dir); err != nil {
			return err
		}
		for first := 0; first < n; first += 10 {
			pkg := filepath.Join(dir, fmt.Sprintf("group%d", first/10), "v1")
			if err := os.MkdirAll(pkg, 0o755); err != nil {
				return err
			}
			var source strings.Builder
			source.WriteString("// +kubebuilder:object:generate=true\n// +statuspatcher:generate=true\npackage v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n")
			for i := first; i < min(first+10, n); i++ {
				fmt.Fprintf(&source, kindSource, fmt.Sprintf("Kind%d", i))
			}
			if err := os.WriteFile(filepath.Join(pkg, "types.go"), []byte(source.String()), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

const kindSource = `
type %[1]sStatus struct {
	Phase              string             ` + "`json:\"phase,omitempty\"`" + `
	ObservedGeneration int64              ` + "`json:\"observedGeneration,omitempty\"`" + `
	Conditions         []metav1.Condition ` + "`json:\"conditions,omitempty\"`" + `
	Plan               *%[1]sPlan         ` + "`json:\"plan,omitempty\"`" + `
}

type %[1]sPlan struct {
	ID    string   ` + "`json:\"id\"`" + `
	Tasks []string ` + "`json:\"tasks,omitempty\"`" + `
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type %[1]s struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Status %[1]sStatus ` + "`json:\"status,omitempty\"`" + `
}
`
