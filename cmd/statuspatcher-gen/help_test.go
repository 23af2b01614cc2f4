package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestHelp: the pages of -h and -w, as they are on file. They go to stdout, and the exit status is 0.
func TestHelp(t *testing.T) {
	const name = "testdata/help.txtar"
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-h", "-hh", "-w", "-ww", "-www"} {
		var out, complaints bytes.Buffer
		if exit := run("", []string{flag}, &out, &complaints); exit != exitDone || complaints.Len() > 0 {
			t.Errorf("%s: exit %d, %s", flag, exit, complaints.String())
		}
		checkGolden(t, name, archive, flag, lineEnds.ReplaceAllString(out.String(), "\n"))
	}
}

func TestHelpJSON(t *testing.T) {
	for _, flag := range []string{"-hhhh", "-wwww"} {
		var out, complaints bytes.Buffer
		if exit := run("", []string{flag}, &out, &complaints); exit != exitDone {
			t.Errorf("%s: exit %d, %s", flag, exit, complaints.String())
		}
		var pages []any
		if err := json.Unmarshal(out.Bytes(), &pages); err != nil || len(pages) == 0 {
			t.Errorf("%s: %v\n%s", flag, err, out.String())
		}
	}
}

func TestVersion(t *testing.T) {
	var out bytes.Buffer
	if exit := run("", []string{"--version"}, &out, &out); exit != exitDone || !strings.HasPrefix(out.String(), "statuspatcher-gen ") {
		t.Errorf("exit %d, %q", exit, out.String())
	}
}
