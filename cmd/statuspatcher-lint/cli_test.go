package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
)

func TestExitCodes(t *testing.T) {
	module(t, "cells")
	for _, row := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"something to fix", []string{"./blindmerge"}, exitFindings, "blindmerge/blindmerge.go:26:9: blind-merge: ", ""},
		{"nothing to fix", []string{"./reach"}, exitClean, "", ""},
		{"ban", []string{"-ban", "./updates"}, exitFindings, "updates/updates.go:24:10: refetch: ", ""},
		{"audit", []string{"-audit", "./blindmerge"}, exitClean, "blind-merge", ""},
		{"tests", []string{"-tests", "./support"}, exitFindings, "support/support.go:14:12: blind-merge: ", ""},
		{"no such package", []string{"./nowhere"}, exitFailed, "", "nowhere"},
		{"no such flag", []string{"-nonsense"}, exitFailed, "", "nonsense"},
		{"no such format", []string{"-audit", "-format=xml", "./updates"}, exitFailed, "", `format "xml" is unknown: expected one of text, markdown, json, sarif`},
		{"format without audit", []string{"-format=json", "./updates"}, exitFailed, "", "needs -audit"},
		{"no such baseline", []string{"-baseline=nowhere.json", "./updates"}, exitFailed, "", "make one with -audit -format=json"},
		{"fix and audit", []string{"-fix", "-audit", "./updates"}, exitFailed, "", "ask for one of them"},
		{"explain", []string{"-explain=stale-retry"}, exitClean, "A retry writes the object that was read before the retry", ""},
		{"no such class", []string{"-explain=stale"}, exitFailed, "", `class "stale" is unknown: expected one of [transplant`},
		{"bad directive", []string{"./directives"}, exitFindings, "without a reason", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, stdout, stderr := runLint(t, row.args...)
			if code != row.code {
				t.Errorf("exit code %d, expected %d", code, row.code)
			}
			if !strings.Contains(stdout, row.stdout) || row.stdout == "" && stdout != "" {
				t.Errorf("stdout is %q, expected %q in it", stdout, row.stdout)
			}
			if !strings.Contains(stderr, row.stderr) || row.stderr == "" && stderr != "" {
				t.Errorf("stderr is %q, expected %q in it", stderr, row.stderr)
			}
		})
	}
}

func records(t *testing.T, text string) []audit.Record {
	t.Helper()
	var out []audit.Record
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return out
}

func TestAuditFormats(t *testing.T) {
	module(t, "cells")
	_, text, _ := runLint(t, "-audit", "-format=json", "./locked", "./blindmerge", "./reach")
	rows := records(t, text)
	counts := map[string]int{}
	for _, r := range rows {
		counts[string(r.Verdict)]++
		if r.File == "" || r.Line == 0 || r.Column == 0 || r.Function == "" || r.Call == "" || r.Class == "" || r.Reason == "" {
			t.Errorf("a field is empty: %+v", r)
		}
		if strings.Contains(r.File, "\\") || filepath.IsAbs(r.File) {
			t.Errorf("the file %s is not relative to the module", r.File)
		}
	}
	for _, v := range []string{"ok", "fix", "unknown", "out-of-scope"} {
		if counts[v] == 0 {
			t.Errorf("no row with verdict %s", v)
		}
	}

	_, none, _ := runLint(t, "-audit", "-format=json", "./api/v1")
	if strings.TrimSpace(none) != "[]" {
		t.Errorf("an audit without sites is %q, expected an empty array", none)
	}

	_, markdown, _ := runLint(t, "-audit", "-format=markdown", "./blindmerge")
	for _, want := range []string{"### To fix", "| blindmerge/blindmerge.go:26 | (*Reconciler).local |", "### Counts", "| fix | blind-merge |"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("the markdown lacks %q:\n%s", want, markdown)
		}
	}

	_, out, _ := runLint(t, "-audit", "-format=sarif", "./locked", "./blindmerge", "./reach")
	report, err := sarif.FromString(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Error(err)
	}
	if got, want := len(report.Runs[0].Results), counts["fix"]+counts["unknown"]; got != want {
		t.Errorf("SARIF has %d results, expected the %d with verdict fix or unknown", got, want)
	}
	_, out, _ = runLint(t, "-audit", "-format=sarif", "./scope")
	if !strings.Contains(out, `"results": []`) {
		t.Errorf("code scanning needs the array of results, even an empty one:\n%s", out)
	}
}

func TestBaseline(t *testing.T) {
	dir := module(t, "cells")
	_, text, _ := runLint(t, "-audit", "-format=json", "./blindmerge")
	if err := os.WriteFile("base.json", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := runLint(t, "-baseline=base.json", "./blindmerge"); code != exitClean {
		t.Errorf("with its own audit as the baseline the exit code is %d:\n%s", code, stdout)
	}
	// Lines move, and a new site comes.
	name := filepath.Join(dir, "blindmerge", "blindmerge.go")
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(src), "type Reconciler struct", "\n\n\ntype Reconciler struct", 1) +
		"\nfunc (r *Reconciler) added(ctx context.Context, cell, base *v1.Cell) error {\n\treturn r.Status().Patch(ctx, cell, client.MergeFrom(base))\n}\n"
	if err := os.WriteFile(name, []byte(more), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := runLint(t, "-baseline=base.json", "./blindmerge")
	if code != exitFindings || strings.Count(stdout, ": blind-merge: ") != 1 {
		t.Errorf("exit code %d, expected only the new site:\n%s", code, stdout)
	}
}

func TestDriverJSON(t *testing.T) {
	module(t, "cells")
	code, text, _ := runLint(t, "-json", "./blindmerge")
	if code != exitClean {
		t.Errorf("exit code %d, expected 0: drivers report by the JSON alone", code)
	}
	var tree map[string]map[string][]struct{ Category, Posn, Message string }
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	ds := tree["example.com/cells/blindmerge"]["statuspatcher"]
	if len(ds) == 0 || ds[0].Category != "blind-merge" || !strings.Contains(ds[0].Posn, "blindmerge.go:26:9") {
		t.Errorf("diagnostics %+v", ds)
	}
}

// What does not type-check is named, what could be looked at is reported, marked partial, and the exit code says so.
func TestPartial(t *testing.T) {
	dir := module(t, "cells")
	broken := "package blindmerge\n\nfunc broken() { undefined() }\n"
	if err := os.WriteFile(filepath.Join(dir, "blindmerge", "broken.go"), []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runLint(t, "./blindmerge")
	if code != exitFailed || !strings.Contains(stderr, "example.com/cells/blindmerge could not be analysed in full") || !strings.Contains(stderr, "undefined: undefined") {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if !strings.Contains(stdout, "blindmerge.go:26:9: blind-merge: ") || !strings.Contains(stdout, "(partial: ") {
		t.Errorf("stdout:\n%s", stdout)
	}
	_, text, _ := runLint(t, "-audit", "-format=json", "./blindmerge")
	for _, r := range records(t, text) {
		if !r.Partial {
			t.Errorf("not marked partial: %+v", r)
		}
	}
}

// In a pipe nothing but the results is written; at a terminal, what takes long is announced.
func TestProgress(t *testing.T) {
	var buf bytes.Buffer
	announceOn(&buf, "loading")()
	if buf.Len() > 0 {
		t.Errorf("wrote %q to what is no terminal", buf.String())
	}
	stop := announce(&buf, "loading", time.Hour)
	stop()
	if buf.Len() > 0 {
		t.Errorf("wrote %q before it was due", buf.String())
	}
	started := &signal{first: make(chan struct{})}
	stop = announce(started, "loading", 0)
	<-started.first
	stop()
}

// signal closes first at the first write.
type signal struct{ first chan struct{} }

func (s *signal) Write(p []byte) (int, error) {
	select {
	case <-s.first:
	default:
		close(s.first)
	}
	return len(p), nil
}

// go vet drives the built program, and finds what the standalone tool finds in one package.
func TestVetTool(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "statuspatcher-lint")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module(t, "cells")
	vet := func(args ...string) (string, error) {
		out, err := exec.Command("go", append([]string{"vet", "-vettool=" + tool}, args...)...).CombinedOutput()
		return string(out), err
	}
	out, err := vet("./blindmerge")
	if err == nil || !strings.Contains(out, "blindmerge.go:26:9: blind-merge: ") {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	if out, err := vet("./reach"); err != nil {
		t.Errorf("go vet on what is right: %v\n%s", err, out)
	}
	if out, err := vet("-ban", "./updates"); err == nil || !strings.Contains(out, "refetch: ") {
		t.Errorf("go vet -ban: %v\n%s", err, out)
	}
	if out, err := vet("-json", "./blindmerge"); err != nil || !strings.Contains(out, `"category": "blind-merge"`) {
		t.Errorf("go vet -json: %v\n%s", err, out)
	}
}
