package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// module copies a fixture module of the lint package to a directory of its own and goes there.
func module(t *testing.T, name string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "lint", "testdata", name))); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(mod), "=> ../../..", "=> "+filepath.ToSlash(root))
	text = strings.ReplaceAll(text, "=> ../cells", "=> "+filepath.ToSlash(filepath.Join(root, "lint", "testdata", "cells")))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", "off")
	t.Chdir(dir)
	return dir
}

var outcome = regexp.MustCompile(`(?m)^\s+--- (PASS|FAIL): (\S+)`)

// outcomes runs the tests of the module at hand, and says which subtest passed.
func outcomes(t *testing.T) map[string]bool {
	t.Helper()
	out, _ := exec.Command("go", "test", "-v", "-count=1", ".").CombinedOutput()
	passed := map[string]bool{}
	for _, m := range outcome.FindAllStringSubmatch(string(out), -1) {
		passed[m[2]] = m[1] == "PASS"
	}
	if len(passed) == 0 {
		t.Fatalf("the module's tests did not run:\n%s", out)
	}
	return passed
}

func runLint(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = standalone(args, &out, &errs)
	return code, out.String(), errs.String()
}

func sources(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var summaryLine = regexp.MustCompile(`(?m)^statuspatcher-lint: locked (\d+), recaptured (\d+), left (\d+)\n`)

// summary takes the summary of -fix out of what it printed: how many sites are left, each with its place and a reason,
// and how many were fixed.
func summary(stderr string) (rest string, left, done int) {
	m := summaryLine.FindStringSubmatch(stderr)
	if m == nil {
		return "no summary: " + stderr, 0, 0
	}
	for _, n := range m[1:3] {
		i, _ := strconv.Atoi(n)
		done += i
	}
	left, _ = strconv.Atoi(m[3])
	rest = strings.Replace(stderr, m[0], "", 1)
	reasons := regexp.MustCompile(`(?m)^\tleft: \S+:\d+:\d+: [a-z-]+: .+\n`)
	if len(reasons.FindAllString(rest, -1)) != left {
		return "the summary does not name what is left: " + stderr, left, done
	}
	return reasons.ReplaceAllString(rest, ""), left, done
}

// The forms that lose another reconcile's plan before they are fixed. The rest are right, and must stay so.
var blindForms = map[string]bool{
	"again": true, "baselocal": true, "closures": true, "contains": true, "deferred": true, "early": true, "guard": true, "handed": true, "items": true,
	"outer": true, "parameter": true, "result": true, "retried": true,
}

// The forms that conflict with themselves before they are fixed.
var stuckForms = map[string]bool{"finalizer": true, "stale": true}

func TestFixForms(t *testing.T) {
	dir := module(t, "fixes")
	for name, passed := range outcomes(t) {
		test, form, _ := strings.Cut(name, "/")
		want := !blindForms[form]
		if test == "TestBehaviour" {
			want = !stuckForms[form]
		} else if stuckForms[form] {
			continue
		}
		if passed != want {
			t.Fatalf("before the fix %s passed: %v, expected %v", name, passed, want)
		}
	}

	_, stdout, stderr := runLint(t, "-fix", "./forms/...")
	if rest, _, done := summary(stderr); rest != "" || done == 0 {
		t.Errorf("fixing said: %s", stderr)
	}
	if stdout != "" {
		t.Errorf("left unfixed:\n%s", stdout)
	}
	for name, passed := range outcomes(t) {
		if !passed {
			t.Errorf("after the fix %s fails", name)
		}
	}
	if out, err := exec.Command("gofmt", "-l", ".").Output(); err != nil || len(out) > 0 {
		t.Errorf("not gofmt-clean after the fix: %s %v", out, err)
	}

	once := sources(t, dir)
	_, _, stderr = runLint(t, "-fix", "-ban", "./forms/...")
	if strings.Count(stderr, "statuspatcher-lint: "+useMigrate+"\n") != 1 {
		t.Errorf("with -ban, stderr does not point to statuspatcher-migrate once:\n%s", stderr)
	}
	for name, text := range sources(t, dir) {
		if once[name] != text {
			t.Errorf("fixing twice changed %s:\n%s", name, text)
		}
	}
}

var statusWrite = regexp.MustCompile(`\.Status\(\)\.(Update|Patch)\(`)

// What would do something else after a rewrite is left alone. TestFixForms is the control: there the same forms, without what
// stands in the way here, are rewritten.
func TestFixKeeps(t *testing.T) {
	dir := module(t, "fixes")
	before := sources(t, filepath.Join(dir, "kept"))
	code, stdout, stderr := runLint(t, "-fix", "./kept/...")
	rest, left, done := summary(stderr)
	if code != exitFindings || rest != "" || done != 0 {
		t.Errorf("exit code %d, expected %d: %s", code, exitFindings, stderr)
	}
	writes := 0
	for name, text := range sources(t, filepath.Join(dir, "kept")) {
		writes += len(statusWrite.FindAllString(text, -1))
		if before[name] != text {
			t.Errorf("-fix changed %s:\n%s", name, text)
		}
	}
	if left != writes {
		t.Errorf("the summary names %d writes that are left, expected %d:\n%s", left, writes, stderr)
	}
	if found := strings.Count("\n"+stdout, "\nkept/"); found != writes {
		t.Errorf("%d writes are reported, expected %d:\n%s", found, writes, stdout)
	}
}

// -diff shows the same and leaves the files alone.
func TestDiffChangesNothing(t *testing.T) {
	dir := module(t, "fixes")
	before := sources(t, dir)
	code, stdout, _ := runLint(t, "-diff", "./...")
	if code != exitFindings {
		t.Errorf("exit code %d, expected %d", code, exitFindings)
	}
	for _, want := range []string{"+++ b/forms/baselocal/baselocal.go", "client.MergeFromWithOptimisticLock{}"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the diff lacks %q:\n%s", want, stdout)
		}
	}
	for name, text := range sources(t, dir) {
		if before[name] != text {
			t.Errorf("-diff changed %s", name)
		}
	}
}
