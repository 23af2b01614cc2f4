package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the tests get into their testdata")

// TestMain keeps a workspace of this repository out of the modules that the tests make, and is the command itself where a test
// starts it in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("STATUSPATCHER_GEN_RUN") != "" {
		main()
	}
	if err := os.Setenv("GOWORK", "off"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

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
// among the files comes instead; an empty one means no module. $SUM in a file stands for the hashes of all modules.
func newModule(t testing.TB, files []txtar.File) *testModule {
	t.Helper()
	m := &testModule{TB: t, dir: t.TempDir()}
	if !m.hasGoMod(files) {
		m.write("go.mod", goMod(t))
		m.write("go.sum", goSum(t))
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name, "want.") && (f.Name != "go.mod" || len(f.Data) > 0) {
			m.write(f.Name, strings.ReplaceAll(string(f.Data), "$SUM", goSum(t)))
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

// outputs is the module of the checked-in outputs: it has what generated code needs.
func outputs(t testing.TB) string { return filepath.Join(root(t), "generator", "internal", "outputs") }

// goMod requires what generated code needs, and the generators as tools.
func goMod(t testing.TB) string {
	t.Helper()
	file, tools := parseMod(t, outputs(t)), parseMod(t, root(t))
	const self = "github.com/statuspatcher/statuspatcher"
	for _, replace := range file.Replace {
		dir := filepath.Join(outputs(t), filepath.FromSlash(replace.New.Path))
		if err := file.AddReplace(replace.Old.Path, "", dir, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, require := range tools.Require {
		if !required(file, require.Mod.Path) {
			file.AddNewRequire(require.Mod.Path, require.Mod.Version, true)
		}
	}
	for _, err := range []error{
		file.AddModuleStmt("example.com/app"),
		file.AddRequire(self, "v0.0.0"),
		file.AddTool(self + "/cmd/statuspatcher-gen"),
		file.AddTool("sigs.k8s.io/controller-tools/cmd/controller-gen"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func required(file *modfile.File, path string) bool {
	return slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
}

func parseMod(t testing.TB, dir string) *modfile.File {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// goSum has the hashes of all that goMod requires.
func goSum(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for _, dir := range []string{root(t), outputs(t), filepath.Join(root(t), "patcher", "test")} {
		content, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(content)
	}
	return out.String()
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
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	return m.plain(string(out)), err
}

func (m *testModule) mustRun(name string, args ...string) {
	m.Helper()
	if out, err := m.command(name, args...); err != nil {
		m.Fatalf("%s %v: %v\n%s", name, args, err, out)
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
