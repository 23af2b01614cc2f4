package migrate_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/migrate"
)

var updateGolden = flag.Bool("update-golden", false, "write the .golden files instead of comparing with them")

// operator is a copy of the fixtures' module, which nothing else uses.
func operator(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "operator")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "operator"))); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "go.mod")
	write(t, name, strings.ReplaceAll(read(t, name), "=> ../../..", "=> "+filepath.ToSlash(root)))
	t.Setenv("GOWORK", "off")
	return dir
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func plan(t *testing.T, dir string, patterns ...string) *migrate.Plan {
	t.Helper()
	p, err := migrate.Make(migrate.Options{Dir: dir, Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range p.Problems {
		t.Fatal(problem)
	}
	return p
}

// Each form has its expected output on file, beside its source.
func TestMovedForms(t *testing.T) {
	dir := operator(t)
	p := plan(t, dir, "./moved")
	for _, s := range p.Sites {
		if s.Verdict != migrate.Moved {
			t.Errorf("%s: left: %s: %s", s.At, s.ReasonAt, s.Reason)
		}
	}
	if len(p.Changes) < 11 {
		t.Errorf("%d files change, expected more", len(p.Changes))
	}
	for _, c := range p.Changes {
		golden := filepath.Join("testdata", "operator", "moved", filepath.Base(c.Name)+".golden")
		if *updateGolden {
			write(t, golden, string(c.After))
		} else if want := read(t, golden); want != string(c.After) {
			t.Errorf("%s differs from what the migration makes; with -update-golden the test writes it:\n%s", golden, c.After)
		}
	}
}

var expectation = regexp.MustCompile(`// (left: (.*)|moved)$`)

// Near misses are left, each for its own reason.
func TestNearMisses(t *testing.T) {
	dir := operator(t)
	p := plan(t, dir, "./left")
	lines := map[string][]string{}
	for _, name := range []string{"left.go", "reading.go"} {
		lines[name] = strings.Split(read(t, filepath.Join(dir, "left", name)), "\n")
	}
	for _, s := range p.Sites {
		at := strings.Split(s.At, ":")
		name := filepath.Base(at[0])
		line, err := strconv.Atoi(at[1])
		if err != nil {
			t.Fatal(err)
		}
		m := expectation.FindStringSubmatch(lines[name][line-1])
		switch {
		case m == nil:
			t.Errorf("%s: %s %s, and the fixture expects nothing", s.At, s.Verdict, s.Reason)
		case m[1] == "moved" && s.Verdict != migrate.Moved:
			t.Errorf("%s: left: %s, expected that it is moved", s.At, s.Reason)
		case m[1] != "moved" && s.Verdict != migrate.Left:
			t.Errorf("%s: moved, expected that it is left: %s", s.At, m[2])
		case m[1] != "moved" && !strings.Contains(s.Reason, m[2]):
			t.Errorf("%s: left: %q, expected %q", s.At, s.Reason, m[2])
		case s.Verdict == migrate.Left && (s.ReasonAt == "" || s.ByHand == ""):
			t.Errorf("%s: the reason has no place, or nothing to do by hand: %+v", s.At, s)
		}
		lines[name][line-1] = ""
	}
	for name := range lines {
		for i, l := range lines[name] {
			if m := expectation.FindStringSubmatch(l); m != nil {
				t.Errorf("%s:%d: no write was found, expected %s", name, i+1, m[1])
			}
		}
	}
}
