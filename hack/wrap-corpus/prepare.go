package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/statuspatcher/statuspatcher/generator"

	"github.com/statuspatcher/statuspatcher/hack/operators"
)

const (
	self    = "github.com/statuspatcher/statuspatcher"
	runtime = "sigs.k8s.io/controller-runtime"
	ownDir  = "zz_wrapcorpus" // what is added to a project
	ownTest = "zz_wrapcorpus_test.go"
)

// prepare adds to the copy of a project what it needs to run behind Wrap: the patchers of its kinds, and a package that its tests
// import and that sets the hook. Both runs of the tests are built on the same versions.
func prepare(root, dir string, p project) error {
	module, _, _ := strings.Cut(p.Module, "@")
	if err := os.RemoveAll(filepath.Join(dir, ownDir)); err != nil {
		return err
	}
	if _, err := operators.Command(dir, "go", "mod", "edit", "-dropreplace="+runtime,
		"-require="+self+"/patcher@v0.0.0", "-replace="+self+"/patcher="+filepath.Join(root, "patcher")); err != nil {
		return err
	}
	if err := writeHook(dir); err != nil {
		return err
	}
	if err := complete(dir, p); err != nil {
		return err
	}
	if err := wrapRuntime(dir); err != nil {
		return err
	}
	if err := writeKinds(dir, module, p); err != nil {
		return err
	}
	for i, pkg := range sortedKeys(p.Kinds) {
		var types []string
		for _, kind := range p.Kinds[pkg] {
			types = append(types, pkg+"."+kind)
		}
		options := generator.Options{Dir: dir, Types: types, OutputDir: path.Join(ownDir, fmt.Sprint("status", i))}
		if err := generator.Run(options, io.Discard, io.Discard); err != nil {
			return err
		}
	}
	for _, pkg := range p.Tests {
		if err := importHook(filepath.Join(dir, filepath.FromSlash(pkg)), module); err != nil {
			return err
		}
	}
	return nil
}

// writeHook writes the package that wraps the clients, without its kinds.
func writeHook(dir string) error {
	to := filepath.Join(dir, ownDir, "hook")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	hook, err := data.ReadFile("wrapping/hook.go.txt")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "hook.go"), hook, 0o644)
}

// complete adds to go.mod and go.sum what patcher.Wrap needs: the version of controller-runtime, which is then copied, and what it
// requires in turn. The generator reads both files and changes neither.
func complete(dir string, p project) error {
	args := append([]string{"list", "-deps", "-test", "./" + ownDir + "/hook"}, sortedKeys(p.Kinds)...)
	for _, pkg := range p.Tests {
		args = append(args, "./"+pkg)
	}
	_, err := operators.Command(dir, "go", args...)
	return err
}

// writeKinds writes the file of the hook that imports the patchers, which exist only after the generator has run.
func writeKinds(dir, module string, p project) error {
	var imports, adds strings.Builder
	for i := range sortedKeys(p.Kinds) {
		fmt.Fprintf(&imports, "import status%d %q\n", i, path.Join(module, ownDir, fmt.Sprint("status", i)))
		fmt.Fprintf(&adds, "\tkinds = append(kinds, status%d.Kinds()...)\n", i)
	}
	content := "package hook\n\n" + imports.String() + "\nfunc init() {\n" + adds.String() + "}\n"
	return os.WriteFile(filepath.Join(dir, ownDir, "hook", "kinds.go"), []byte(content), 0o644)
}

// importHook adds a test file to a package that imports the hook.
func importHook(dir, module string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if filepath.Base(name) == ownTest {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		content := fmt.Sprintf("package %s\n\nimport _ %q\n", file.Name.Name, path.Join(module, ownDir, "hook"))
		return os.WriteFile(filepath.Join(dir, ownTest), []byte(content), 0o644)
	}
	return fmt.Errorf("%s has no tests", dir)
}

// wrapRuntime replaces controller-runtime, in the version that the project builds with, by a copy that wraps the clients it makes.
func wrapRuntime(dir string) error {
	out, err := operators.Command(dir, "go", "list", "-m", "-f", "{{.Version}}", runtime)
	if err != nil {
		return err
	}
	module := runtime + "@" + strings.TrimSpace(string(out))
	to := filepath.Join(filepath.Dir(dir), path.Base(module))
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := operators.Copy(to, module); err != nil {
		return err
	}
	for _, edit := range []struct{ file, old, new, added string }{
		{"pkg/client/client.go", "\nfunc New(", "\nfunc newBare(", "client.go.txt"},
		{"pkg/client/fake/client.go", "\nfunc (f *ClientBuilder) Build() ", "\nfunc (f *ClientBuilder) buildBare() ", "fake.go.txt"},
	} {
		file := filepath.Join(to, filepath.FromSlash(edit.file))
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		renamed, err := renameOnce(file, string(content), edit.old, edit.new)
		if err != nil {
			return err
		}
		added, err := data.ReadFile("wrapping/" + edit.added)
		if err != nil {
			return err
		}
		if err := errors.Join(
			os.WriteFile(file, []byte(renamed), 0o644),
			os.WriteFile(filepath.Join(filepath.Dir(file), "zz_wrapcorpus.go"), added, 0o644),
		); err != nil {
			return err
		}
	}
	_, err = operators.Command(dir, "go", "mod", "edit", "-replace="+runtime+"="+to)
	return err
}

// renameOnce replaces the one occurrence of a declaration in the content of a file.
func renameOnce(file, content, old, new string) (string, error) {
	if strings.Count(content, old) != 1 {
		return "", fmt.Errorf("%s: expected exactly one line that begins with %q: the edit is for another version of controller-runtime", file, strings.TrimSpace(old))
	}
	return strings.Replace(content, old, new, 1), nil
}
