package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

const self = "github.com/statuspatcher/statuspatcher"

// download gets the module from the proxy and says where it is.
func (s source) download(work string) (string, error) {
	out, err := command(work, "go", "mod", "download", "-json", s.module+"@"+s.version)
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(out), &answer); jsonErr != nil || answer.Error != "" {
		return "", fmt.Errorf("download: %w %s%s", err, answer.Error, out)
	}
	return answer.Dir, nil
}

func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// copyModule copies the API packages, and the packages of the module that they import, to a module of the same path.
func (s source) copyModule(from, to, root string) error {
	external := map[string]bool{}
	done := map[string]bool{}
	var todo []string
	for _, dir := range s.dirs {
		err := filepath.WalkDir(filepath.Join(from, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if base := entry.Name(); s.leftOut(from, path) || base == "testdata" || base == "vendor" || base == "applyconfiguration" || strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			rel, err := filepath.Rel(from, path)
			todo = append(todo, rel)
			return err
		})
		if err != nil {
			return err
		}
	}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		if done[dir] {
			continue
		}
		done[dir] = true
		imports, err := copyPackage(filepath.Join(from, dir), filepath.Join(to, dir))
		if err != nil {
			return err
		}
		for _, path := range imports {
			if rel, inside := strings.CutPrefix(path, s.module+"/"); inside {
				todo = append(todo, filepath.FromSlash(rel))
			} else if path == s.module {
				todo = append(todo, ".")
			} else {
				external[path] = true
			}
		}
	}
	return s.writeModFile(from, to, root, external)
}

// leftOut tells whether a directory is one that the source leaves out.
func (s source) leftOut(from, dir string) bool {
	rel, err := filepath.Rel(from, dir)
	return err == nil && slices.Contains(s.without, filepath.ToSlash(rel))
}

// requireModule makes a module of our own that requires the source's.
func (s source) requireModule(to, root string) error {
	content := fmt.Sprintf("module corpus.example/%s\n\ngo 1.26.0\n\nrequire %s %s\n%s", s.name, s.module, s.version, ownModules(root))
	return os.WriteFile(filepath.Join(to, "go.mod"), []byte(content), 0o666)
}

// ownModules requires the modules of this repository that the behaviour tests need, from the checkout.
func ownModules(root string) string {
	var out strings.Builder
	for _, name := range []string{"", "/patcher", "/patchertest", "/examples", "/hack"} {
		if name == "/patcher" || name == "/hack" {
			fmt.Fprintf(&out, "\nrequire %s%s v0.0.0\n", self, name)
		}
		fmt.Fprintf(&out, "\nreplace %s%s => %s%s\n", self, name, root, filepath.FromSlash(name))
	}
	return out.String()
}

// copyPackage copies the Go files of a directory, tests aside, and returns their imports.
func copyPackage(from, to string) ([]string, error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		if file.Name.Name == "main" {
			continue
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			imports = append(imports, path)
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o666); err != nil {
			return nil, err
		}
		if err := copyEmbedded(from, to, content); err != nil {
			return nil, err
		}
	}
	return imports, nil
}

// copyEmbedded copies the files that a Go file embeds.
func copyEmbedded(from, to string, source []byte) error {
	for line := range strings.Lines(string(source)) {
		patterns, embeds := strings.CutPrefix(strings.TrimSpace(line), "//go:embed ")
		if !embeds {
			continue
		}
		for _, pattern := range strings.Fields(patterns) {
			names, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(pattern)))
			if err != nil {
				return err
			}
			for _, name := range names {
				rel, err := filepath.Rel(from, name)
				if err != nil {
					return err
				}
				content, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o777); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(to, rel), content, 0o666); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writeModFile requires, of what the module requires, the modules that the copied packages import.
func (s source) writeModFile(from, to, root string, external map[string]bool) error {
	content, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // old modules have none, and take what we require
		return err
	}
	theirs, err := modfile.ParseLax("go.mod", content, nil)
	if err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "module %s\n\ngo 1.26.0\n\nrequire (\n", s.module)
	for _, require := range theirs.Require {
		needed := slices.ContainsFunc(sorted(external), func(path string) bool {
			return path == require.Mod.Path || strings.HasPrefix(path, require.Mod.Path+"/")
		})
		if needed {
			fmt.Fprintf(&out, "\t%s %s\n", require.Mod.Path, require.Mod.Version)
		}
		if needed && require.Mod.Path == "k8s.io/api" {
			// The tests import client-go, which needs the k8s.io/api of its own release.
			fmt.Fprintf(&out, "\tk8s.io/client-go %s\n", require.Mod.Version)
		}
	}
	fmt.Fprint(&out, ")\n", ownModules(root))
	return os.WriteFile(filepath.Join(to, "go.mod"), []byte(out.String()), 0o666)
}

func sorted[V any](set map[string]V) []string {
	var out []string
	for key := range set {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
