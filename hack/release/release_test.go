package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/hack/publish"
)

// newRepository makes a git repository of the checkout's files, with a changelog that has a section for v0.1.0.
func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{dir: t.TempDir()}
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // it is deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		r.write(t, name, string(text))
	}
	r.write(t, "CHANGELOG.md", "# Changelog\n\n## v0.3.0\n\n### Breaking\n\n## v0.2.0\n\nNew.\n\n## v0.1.0\n\nFirst.\n")
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch", "main"}, {"config", "user.name", "Tester"}, {"config", "user.email", "tester@example.com"},
		{"add", "--all"}, {"commit", "--quiet", "--message", "all"},
	} {
		r.must(t, args...)
	}
	return r
}

func (r repository) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (r repository) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.git(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRelease(t *testing.T) {
	r := newRepository(t)
	// A published module that requires another one, whether or not any does today.
	r.write(t, "patchertest/uses.go", "package patchertest\n\nimport _ \""+publish.Root+"/patcher\"\n")
	edit := exec.Command("go", "mod", "edit", "-require="+publish.Root+"/patcher@v0.0.0", "-replace="+publish.Root+"/patcher=../patcher")
	edit.Dir = filepath.Join(r.dir, "patchertest")
	if out, err := edit.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.must(t, "add", "--all")
	r.must(t, "commit", "--quiet", "--message", "use the runtime in the test kit")
	head, developed := r.must(t, "rev-parse", "HEAD"), r.must(t, "show", "HEAD:patchertest/go.mod")

	var out bytes.Buffer
	if err := run(r.dir, "v0.1.0", true, &out); err != nil {
		t.Fatal(err)
	}
	if tags := r.must(t, "tag", "--list"); tags != "" || r.must(t, "rev-parse", "HEAD") != head {
		t.Errorf("the dry run left tags %q and moved the branch", tags)
	}
	if err := run(r.dir, "v0.1.0", false, &out); err != nil {
		t.Fatal(err)
	}
	tags := strings.Fields(r.must(t, "tag", "--list"))
	if want := "patcher/v0.1.0 patchertest/v0.1.0 v0.1.0"; strings.Join(tags, " ") != want {
		t.Errorf("tags %q, expected %q", tags, want)
	}
	for _, tag := range tags {
		if r.must(t, "rev-parse", tag+"^{commit}") != r.must(t, "rev-parse", "v0.1.0^{commit}") {
			t.Errorf("%s is at another commit", tag)
		}
	}
	released := r.must(t, "show", "v0.1.0:patchertest/go.mod")
	if strings.Contains(released, "replace") || !strings.Contains(released, publish.Root+"/patcher v0.1.0") {
		t.Errorf("the released go.mod of the test kit is\n%s", released)
	}
	for _, file := range []string{"go.mod", "patcher/go.mod", "patchertest/go.mod", "patchertest/go.sum"} {
		if text := r.must(t, "show", "HEAD:"+file); text != r.must(t, "show", head+":"+file) {
			t.Errorf("after the release %s is\n%s", file, text)
		}
	}
	if !strings.Contains(developed, "replace") {
		t.Error("control: go.mod replaces nothing before the release, so this test shows nothing")
	}
	if err := run(r.dir, "v0.2.0", true, &out); err != nil {
		t.Errorf("the next release: %v", err)
	}
}

func TestReleaseIsRefused(t *testing.T) {
	r := newRepository(t)
	for _, row := range []struct {
		name, version string
		prepare       func()
		want          string
	}{
		{"not a version", "0.1.0", nil, "is not a version"},
		{"a version without a patch number", "v0.1", nil, "is not a version"},
		{"not in the changelog", "v0.9.0", nil, "no section"},
		{"nothing but headings in the changelog", "v0.3.0", nil, `the section "## v0.3.0" of CHANGELOG.md is empty`},
		{"a branch for something else", "v0.2.0", func() { r.must(t, "checkout", "--quiet", "-b", "release-0.1") }, "released from main or from release-0.2"},
		{"a key that cannot sign", "v0.2.0", func() {
			r.must(t, "checkout", "--quiet", "main")
			r.must(t, "config", "gpg.program", "false")
			r.must(t, "config", "tag.gpgSign", "true")
		}, "gpg failed to sign"},
		{"an older version", "v0.1.0", func() {
			r.must(t, "config", "tag.gpgSign", "false")
			r.must(t, "tag", "patcher/v0.1.1")
		}, "tag patcher/v0.1.1 is not older"},
		{"a published module that replaces another", "v0.2.0", func() {
			r.write(t, "go.mod", r.must(t, "show", "HEAD:go.mod")+"\nreplace golang.org/x/mod => ../mod\n")
			r.must(t, "commit", "--quiet", "--all", "--message", "replace")
		}, "go.mod replaces golang.org/x/mod"},
		{"a published module that does not compile", "v0.2.0", func() {
			r.must(t, "checkout", "--quiet", "HEAD~", "--", "go.mod")
			r.write(t, "templates/broken.go", "package templates\n\nvar x int = \"one\"\n")
			r.must(t, "add", "--all")
			r.must(t, "commit", "--quiet", "--message", "break")
		}, "broken.go"},
		{"work that is not committed", "v0.2.0", func() { r.write(t, "new.txt", "") }, "new.txt"},
	} {
		if row.prepare != nil {
			row.prepare()
		}
		before := r.must(t, "for-each-ref")
		err := run(r.dir, row.version, false, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, expected an error with %q", row.name, err, row.want)
		}
		if after := r.must(t, "for-each-ref"); after != before {
			t.Errorf("%s: the repository changed from\n%s\nto\n%s", row.name, before, after)
		}
	}
}
