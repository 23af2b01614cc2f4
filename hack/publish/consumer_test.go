package publish

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// consumer is an operator's module outside of this repository.
type consumer struct {
	testing.TB
	dir string
	env []string
}

// newConsumer makes the operator of testdata/operator.txtar with a toolchain and a version of controller-runtime.
func newConsumer(t testing.TB, goproxy, goVersion, toolchain, controllerRuntime, apimachinery string) *consumer {
	t.Helper()
	c := &consumer{TB: t, dir: t.TempDir(), env: append(os.Environ(), "GOPROXY="+goproxy, "GONOSUMDB="+Root, "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN="+toolchain)}
	archive, err := txtar.ParseFile("testdata/operator.txtar")
	if err != nil {
		t.Fatal(err)
	}
	versions := strings.NewReplacer("GO_VERSION", goVersion, "CONTROLLER_RUNTIME", controllerRuntime, "APIMACHINERY", apimachinery)
	for _, f := range archive.Files {
		c.write(f.Name, versions.Replace(string(f.Data)))
	}
	c.run("go", "mod", "tidy")
	return c
}

func (c *consumer) write(name, text string) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

func (c *consumer) read(name string) string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

// run runs a command in the module; those with a variable before them, such as GOBIN=bin go install, too.
func (c *consumer) run(name string, args ...string) string {
	c.Helper()
	cmd := exec.Command("env", append([]string{name}, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// withPatchers generates patchers and a controller that uses them, as the documents tell an operator to do.
func (c *consumer) withPatchers(version string) {
	c.Helper()
	c.run("GOTOOLCHAIN=local", "go", "run", Root+"/cmd/statuspatcher-gen@"+version, "paths=./api/...")
	c.write("controller/status.go", c.read("status.go.txt"))
	c.run("go", "get", Root+"/patcher@"+version)
	c.run("go", "mod", "tidy")
}

// added returns the lines that after has and before has not, and the other way round.
func added(before, after string) (more, less []string) {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range is {
		if !slices.Contains(was, line) {
			more = append(more, line)
		}
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			less = append(less, line)
		}
	}
	return more, less
}

// TestImportingTheRuntimeCostsOneLine: an operator's go.mod gets one line and its build list one module, whether the operator is
// on the lowest versions that are supported, built with the Go of its go line, or on the newest.
//
// A build list names every module that a go.mod file in it requires, used or not. The runtime's names what the lowest Kubernetes
// libraries need, so on the newest the list has modules that those libraries have dropped. Nothing of them is built.
//
// On the lowest versions the operator is compiled, without optimizations, which takes half the time. That the runtime compiles on the
// newest is what make test-latest shows.
func TestImportingTheRuntimeCostsOneLine(t *testing.T) {
	goproxy, version := Checkout(t, "../..")
	for _, row := range []struct {
		name, goVersion, toolchain, controllerRuntime, apimachinery string
		compile                                                     []string
		unused                                                      []string
	}{
		{"lowest", "1.24.0", "go1.24.0", "v0.22.5", "v0.34.3", []string{"build", "-gcflags=all=-N -l -dwarf=false", "./..."}, nil},
		{
			"newest", "1.26.0", "local", "v0.25.2", "v0.37.1", []string{"list", "-deps", "./..."},
			[]string{"github.com/gogo/protobuf", "github.com/josharian/intern", "github.com/mailru/easyjson"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newConsumer(t, goproxy, row.goVersion, row.toolchain, row.controllerRuntime, row.apimachinery)
			goMod, modules := c.read("go.mod"), c.run("go", "list", "-m", "-f", "{{.Path}}", "all")

			c.withPatchers(version)
			c.run("go", row.compile...)
			more, less := added(goMod, c.read("go.mod"))
			if want := "\t" + Root + "/patcher " + version; len(more) != 1 || more[0] != want || len(less) != 0 {
				t.Errorf("go.mod gets the lines %q and loses %q, expected one line more: %q", more, less, want)
			}
			more, less = added(modules, c.run("go", "list", "-m", "-f", "{{.Path}}", "all"))
			want := append(slices.Clone(row.unused), Root+"/patcher")
			slices.Sort(want)
			if !slices.Equal(more, want) || len(less) != 0 {
				t.Errorf("the build list gets %q and loses %q, expected %q", more, less, want)
			}
			built := strings.Fields(c.run("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./..."))
			for _, path := range row.unused {
				if slices.Contains(built, path) {
					t.Errorf("a package of %s is built", path)
				}
			}
		})
	}
	t.Run("control: importing the test kit changes more", func(t *testing.T) {
		c := newConsumer(t, goproxy, "1.25.0", "local", "v0.22.5", "v0.34.3")
		goMod := c.read("go.mod")
		c.write("kit_test.go", "package main\n\nimport _ \""+Root+"/patchertest\"\n")
		c.run("go", "get", Root+"/patchertest@"+version)
		c.run("go", "mod", "tidy")
		if more, _ := added(goMod, c.read("go.mod")); len(more) < 2 {
			t.Errorf("go.mod gets %q: the test above cannot fail", more)
		}
	})
}

// TestPublishedModulesAreConsumed uses each published module at a version, the way operators do. Nothing is replaced.
func TestPublishedModulesAreConsumed(t *testing.T) {
	goproxy, version := Checkout(t, "../..")
	c := newConsumer(t, goproxy, "1.26.0", "local", "v0.22.5", "v0.34.3")
	for _, tool := range []string{"statuspatcher-gen", "statuspatcher-lint", "statuspatcher-migrate"} {
		c.run("GOBIN="+filepath.Join(c.dir, "bin"), "go", "install", Root+"/cmd/"+tool+"@"+version)
		installed := c.run("bin/"+tool, "--version")
		ran := c.run("go", "run", Root+"/cmd/"+tool+"@"+version, "--version")
		if !strings.Contains(installed, version) || ran != installed {
			t.Errorf("%s --version prints %q when it is installed and %q when it is run, expected %s in both", tool, installed, ran, version)
		}
	}
	c.withPatchers(version)
	c.write("kit_test.go", "package main\n\nimport (\n\t_ \""+Root+"/patchertest\"\n\t_ \""+Root+"/patchertest/realserver\"\n)\n")
	c.run("go", "get", Root+"/patchertest@"+version)
	c.run("go", "mod", "tidy")
	c.run("go", "test", "-vet=off", "-run", "^$", "./...")
	if goMod := c.read("go.mod"); strings.Contains(goMod, "replace") {
		t.Errorf("go.mod replaces something:\n%s", goMod)
	}
}
