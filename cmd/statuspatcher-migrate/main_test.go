package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// operator is a copy of the fixtures' module.
func operator(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "operator")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "migrate", "testdata", "operator"))); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte("=> ../../.."), []byte("=> "+filepath.ToSlash(root))), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", "off")
	return dir
}

func TestCommand(t *testing.T) {
	dir := operator(t)
	for _, row := range []struct {
		args   string
		exit   int
		stdout string
		stderr string
	}{
		{"-h", exitClean, "", "Exit status: 0 nothing to move"},
		{"-version", exitClean, "statuspatcher-migrate ", ""},
		{"-nonsense", exitFailed, "", "flag provided but not defined: -nonsense"},
		{"-w -diff", exitFailed, "", "give one of them"},
		{"-test ./moved", exitFailed, "", "-test and -force are for -w"},
		{"./nothing", exitFailed, "", "./nothing"},
		{"./api/v1", exitClean, "there is no handwritten status write", ""},
		{"./moved .", exitLeft, "main.go:11: add NewClient to the options of this manager", ""},
		{"./moved", exitLeft, "moved/mutate.go:25:9: moved (v1.Cell, patch)", ""},
		{"./left", exitLeft, "by hand: read the object where it is written, then flush it", ""},
		{"-diff ./moved", exitLeft, "+	return v1status.CellKind.Flush(ctx, r.Client, cell)\n", ""},
	} {
		t.Run(row.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := run(dir, strings.Fields(row.args), &stdout, &stderr)
			if exit != row.exit || !strings.Contains(stdout.String(), row.stdout) || !strings.Contains(stderr.String(), row.stderr) {
				t.Errorf("exit status %d, expected %d; expected %q on stdout and %q on stderr:\n%s\n%s", exit, row.exit, row.stdout, row.stderr, &stdout, &stderr)
			}
		})
	}
	t.Run("-json", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		var sites []map[string]any
		if exit := run(dir, []string{"-json", "./left"}, &stdout, &stderr); exit != exitLeft {
			t.Fatalf("exit status %d: %s", exit, &stderr)
		}
		if err := json.Unmarshal(stdout.Bytes(), &sites); err != nil || len(sites) < 15 || sites[0]["verdict"] != "left" || sites[0]["reasonAt"] == "" {
			t.Errorf("%v, %d sites: %s", err, len(sites), &stdout)
		}
	})
}
