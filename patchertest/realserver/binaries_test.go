package realserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes empty files and returns their root.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, file := range files {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func build(version string) []string {
	return []string{"bin/envtest/" + version + "/etcd", "bin/envtest/" + version + "/kube-apiserver"}
}

func TestFindBinaries(t *testing.T) {
	for _, row := range []struct {
		name    string
		files   []string
		workDir string
		want    string // under the root; empty: an error
	}{
		{"of the module that the test is in", append(build("1.36.3"), "go.mod", "a/b/x"), "a/b", "bin/envtest/1.36.3"},
		{"of a module around a nested one", append(build("1.36.3"), "go.mod", "a/go.mod", "a/b/x"), "a/b", "bin/envtest/1.36.3"},
		{"the highest version, not the last name", append(append(build("1.9.0"), build("1.36.3")...), "go.mod"), "", "bin/envtest/1.36.3"},
		{"not one that is half built", append(build("1.36.3"), "go.mod", "bin/envtest/1.37.0/etcd"), "", "bin/envtest/1.36.3"},
		{"not one that has no version", append(build("next"), "go.mod"), "", ""},
		{"not one outside of a module", append(build("1.36.3"), "a/x"), "a", ""},
		{"none", []string{"go.mod"}, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv(assetsVariable, "")
			root := tree(t, row.files...)
			got, err := findBinaries(filepath.Join(root, row.workDir))
			if row.want == "" {
				if err == nil || !strings.Contains(err.Error(), "make envtest") {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if want := filepath.Join(root, row.want); got != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestAssetsOfTheUserComeFirst(t *testing.T) {
	root := tree(t, append(build("1.36.3"), "go.mod", "own/etcd", "own/kube-apiserver", "half/etcd")...)
	t.Setenv(assetsVariable, filepath.Join(root, "own"))
	if got, err := findBinaries(root); got != filepath.Join(root, "own") || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv(assetsVariable, filepath.Join(root, "half"))
	if got, err := findBinaries(root); err == nil || !strings.Contains(err.Error(), "found no kube-apiserver") {
		t.Errorf("got %q, %v", got, err)
	}
}
