package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"

	"github.com/statuspatcher/statuspatcher/internal/typecheck"
)

var update = flag.Bool("update", false, "write what the tests get into their testdata")

// root is the root of this repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A testModule is a module elsewhere, whose files a test writes and whose generator runs in this process.
type testModule struct {
	testing.TB
	dir string
}

// newModule makes a module example.com/app with the versions of this repository, replaced by the sources on disk. A go.mod
// among the files comes instead; an empty one means no module.
func newModule(t testing.TB, files []txtar.File) *testModule {
	t.Helper()
	m := &testModule{TB: t, dir: t.TempDir()}
	if !m.hasGoMod(files) {
		m.write("go.mod", goMod(t))
		sum, err := os.ReadFile(filepath.Join(operatorModule(t), "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		m.write("go.sum", string(sum))
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name, "want.") && (f.Name != "go.mod" || len(f.Data) > 0) {
			m.write(f.Name, string(f.Data))
		}
	}
	return m
}

func (m *testModule) hasGoMod(files []txtar.File) bool {
	for _, f := range files {
		if f.Name == "go.mod" {
			return true
		}
	}
	return false
}

// operatorModule is the directory of the operator's module whose versions this test binary was built with: the lowest, or with
// go.work the newest.
func operatorModule(t testing.TB) string {
	t.Helper()
	lowest, latest := filepath.Join(root(t), "hack", "lowest"), filepath.Join(root(t), "hack", "latest")
	content, err := os.ReadFile(filepath.Join(latest, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return lowest
	}
	for _, dep := range info.Deps {
		if dep.Path == "sigs.k8s.io/controller-tools" && bytes.Contains(content, []byte("\t"+dep.Path+" "+dep.Version+" ")) {
			return latest
		}
	}
	return lowest
}

// goMod is the module file of operatorModule, under the name of the test's module and with the checkout's absolute path.
func goMod(t testing.TB) string {
	t.Helper()
	dir := operatorModule(t)
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.AddModuleStmt("example.com/app"); err != nil {
		t.Fatal(err)
	}
	for _, replace := range file.Replace {
		if err := file.AddReplace(replace.Old.Path, "", filepath.Join(dir, replace.New.Path), ""); err != nil {
			t.Fatal(err)
		}
	}
	out, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func (m *testModule) write(name, content string) {
	m.Helper()
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		m.Fatal(err)
	}
}

func (m *testModule) read(name string) string {
	m.Helper()
	content, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
	if err != nil {
		m.Fatal(err)
	}
	return string(content)
}

// replace edits a file. The old text must be there.
func (m *testModule) replace(name, old, new string) {
	m.Helper()
	content := m.read(name)
	if !strings.Contains(content, old) {
		m.Fatalf("%s has no %q", name, old)
	}
	m.write(name, strings.ReplaceAll(content, old, new))
}

// generate runs the command, with temporary directories out of what it prints.
func (m *testModule) generate(args ...string) (exit int, stdout, stderr string) {
	var out, err bytes.Buffer
	exit = run(m.dir, args, &out, &err)
	return exit, m.plain(out.String()), m.plain(err.String())
}

var lineEnds = regexp.MustCompile(`[ \t]+\n`)

func (m *testModule) plain(text string) string {
	text = strings.ReplaceAll(text, m.dir, "$DIR")
	return lineEnds.ReplaceAllString(text, "\n")
}

// mustGenerate runs the command and wants no complaint.
func (m *testModule) mustGenerate(args ...string) {
	m.Helper()
	if exit, stdout, stderr := m.generate(args...); exit != exitDone || stdout+stderr != "" {
		m.Fatalf("statuspatcher-gen %v: exit %d\n%s%s", args, exit, stdout, stderr)
	}
}

// command runs a program in the module and returns what it prints.
func (m *testModule) command(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return m.plain(string(out)), err
}

func (m *testModule) mustRun(name string, args ...string) {
	m.Helper()
	if out, err := m.command(name, args...); err != nil {
		m.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// typecheckVendored finds what does not compile in a module with a vendor directory. Go would compile the vendored packages, for this
// module alone.
func (m *testModule) typecheckVendored() error {
	return typecheck.Module(m.dir, append(os.Environ(), "GOFLAGS=-mod=vendor", "GOWORK=off"), "./...")
}

func (m *testModule) mustTypecheckVendored() {
	m.Helper()
	if err := m.typecheckVendored(); err != nil {
		m.Fatal(err)
	}
}

// tree is every file with its content and its time.
func (m *testModule) tree() map[string]string {
	m.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(m.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			out[path] = "directory"
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		out[path] = info.ModTime().String() + "\n" + string(content)
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return out
}
