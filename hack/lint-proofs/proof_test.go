package lintproofs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "example.com/cells/api/v1/v1status" // the programs' module has the requirements of this one
	_ "github.com/statuspatcher/statuspatcher/patcher"
	_ "github.com/statuspatcher/statuspatcher/patchertest"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
)

// module is a directory with a module that holds the programs before and after.
type module struct {
	dir      string
	programs []Program
	fixed    map[string]bool
	reasons  map[string]string // why a program was left
}

func newModule(t *testing.T, programs []Program) *module {
	t.Helper()
	m := &module{dir: t.TempDir(), programs: programs, fixed: map[string]bool{}}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	mod := m.read(t, filepath.Join(here, "go.mod"))
	mod = strings.Replace(mod, "module github.com/statuspatcher/statuspatcher/hack/lint-proofs", "module example.com/proofs", 1)
	mod = regexp.MustCompile(`=> (\.\./\S+)`).ReplaceAllStringFunc(mod, func(s string) string {
		return "=> " + filepath.ToSlash(filepath.Join(here, strings.TrimPrefix(s, "=> ")))
	})
	m.write(t, "go.mod", mod)
	m.write(t, "go.sum", m.read(t, filepath.Join(here, "go.sum")))
	for _, pkg := range []string{"before", "after"} {
		m.write(t, pkg+"/base.go", "package "+pkg+"\n\n"+m.read(t, filepath.Join(here, "testdata", "base.go.txt"))+makers(programs))
		for _, p := range programs {
			m.write(t, pkg+"/"+p.Name+".go", m.source(pkg, p))
		}
	}
	m.write(t, "run_test.go", m.read(t, filepath.Join(here, "testdata", "run_test.go.txt")))
	return m
}

func (m *module) source(pkg string, p Program) string {
	return "package " + pkg + "\n\nimport (\n\t\"context\"\n\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\t\"sigs.k8s.io/controller-runtime/pkg/client\"\n\n" +
		"\tv1 \"example.com/cells/api/v1\"\n)\n\n" + p.Text
}

// makers are the functions by which the test makes the reconcilers.
func makers(programs []Program) string {
	var b strings.Builder
	for _, p := range programs {
		fmt.Fprintf(&b, "\nfunc New%s(c client.Client, touched *atomic.Int64) *%s { return &%s{base{c, touched}} }\n", p.Name, p.Name, p.Name)
	}
	return b.String()
}

func (m *module) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (m *module) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fix runs the lint rule's fixes over the programs after.
func (m *module) fix(t *testing.T) {
	t.Helper()
	load := driver.Load{Dir: m.dir, Patterns: []string{"./after"}, Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")}
	loaded, err := load.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded.Problems {
		t.Fatal(p.Error())
	}
	items := loaded.Check(check.Options{}).Reported(check.Options{})
	if len(items) != len(m.programs) {
		t.Fatalf("the rule reports %d writes, expected one in each of %d programs", len(items), len(m.programs))
	}
	fixed, err := loaded.Fix(load, items)
	if err != nil || len(fixed.Failed) > 0 {
		t.Fatalf("%v %v", err, fixed.Failed)
	}
	for _, f := range fixed.Files {
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
		m.fixed[strings.TrimSuffix(filepath.Base(f.Name), ".go")] = true
	}
	summary, _, _ := strings.Cut(loaded.Summary(fixed, items), "\n")
	t.Log(summary)
	for _, kind := range []string{"locked 0", "recaptured 0"} {
		if strings.Contains(summary, kind) {
			t.Errorf("no program was %s: %s", strings.TrimSuffix(kind, " 0"), summary)
		}
	}
}

var outcome = regexp.MustCompile(`(?m)^    --- (PASS|FAIL): TestPrograms/(\S+)`)

// run runs the programs, and returns which of them failed, with what was said.
func (m *module) run(t *testing.T) (failed map[string]bool, output string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("package proofs\n\nimport (\n\t\"sync/atomic\"\n\n\t\"sigs.k8s.io/controller-runtime/pkg/client\"\n\t\"sigs.k8s.io/controller-runtime/pkg/reconcile\"\n\n\t\"example.com/proofs/after\"\n\t\"example.com/proofs/before\"\n)\n\nvar programs = []struct {\n\tname          string\n\tbefore, after version\n\tfixed         bool\n}{\n")
	for _, p := range m.programs {
		maker := func(pkg string) string {
			return "func(c client.Client, touched *atomic.Int64) reconcile.Reconciler { return " + pkg + ".New" + p.Name + "(c, touched) }"
		}
		fmt.Fprintf(&b, "\t{%q, %s, %s, %v},\n", p.Name, maker("before"), maker("after"), m.fixed[p.Name])
	}
	m.write(t, "programs_test.go", b.String()+"}\n")
	cmd := exec.Command("go", "test", "-v", "-count=1", ".")
	cmd.Dir, cmd.Env = m.dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // programs may fail; which ones is in the output
	failed, ran := map[string]bool{}, 0
	for _, match := range outcome.FindAllStringSubmatch(out.String(), -1) {
		ran++
		failed[match[2]] = match[1] == "FAIL"
	}
	if ran != len(m.programs) {
		t.Fatalf("%d programs ran, expected %d:\n%s", ran, len(m.programs), out.String())
	}
	return failed, out.String()
}

const count = 140

// Every program does the same after its fix when nothing else writes, comes to rest, and loses no update of another writer.
func TestFixesAreRight(t *testing.T) {
	m := newModule(t, Generate(1, count))
	m.fix(t)
	failed, output := m.run(t)
	fixed, lost := 0, strings.Count(output, "before the fix an update was lost")
	for _, p := range m.programs {
		if failed[p.Name] {
			t.Errorf("%s fails:\n%s", p.Name, p.Text)
		}
		if m.fixed[p.Name] && p.Writes {
			t.Errorf("%s was fixed, although something writes its object in between:\n%s", p.Name, p.Text)
		}
		if m.fixed[p.Name] {
			fixed++
		} else if !p.Writes {
			t.Errorf("%s was not fixed, although nothing else writes its object:\n%s", p.Name, p.Text)
		}
	}
	if t.Failed() {
		t.Log(output)
	}
	// A program that updates the object itself has a check of its own, so that it may lose nothing.
	if fixed < count/5 || lost*10 < fixed*9 {
		t.Errorf("%d of %d programs were fixed, and %d of them lost an update before", fixed, count, lost)
	}
	t.Logf("%d programs, %d fixed, %d of them lost an update before", count, fixed, lost)
}

// A fix that is wrong is caught: a lock in a program whose object is written between read and write.
func TestWrongFixIsCaught(t *testing.T) {
	var wrong []Program
	for _, p := range Generate(1, count) {
		if p.Writes && strings.Contains(p.Text, "client.MergeFrom(base)") && len(wrong) < 8 {
			wrong = append(wrong, p)
		}
	}
	m := newModule(t, wrong)
	for _, p := range wrong {
		locked := p
		locked.Text = strings.Replace(p.Text, "client.MergeFrom(base)", "client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})", 1)
		m.write(t, "after/"+p.Name+".go", m.source("after", locked))
	}
	failed, output := m.run(t)
	for _, p := range wrong {
		// A goroutine that was started before the read may happen to run before it each time that is tried.
		if !failed[p.Name] && !strings.Contains(p.Text, "<-ended") {
			t.Errorf("the wrong fix of %s was not caught:\n%s\n%s", p.Name, p.Text, output)
		}
	}
}
