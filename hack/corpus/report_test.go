package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecord: the results of several parts add up, the later ones of one source count, and a broken record is an error and stays as
// it is.
func TestRecord(t *testing.T) {
	t.Chdir("..") // where the command starts
	name := filepath.Join(t.TempDir(), "record.json")
	for _, part := range []result{{Name: "velero", Tried: 1, Generated: 1}, {Name: "cluster-api", Tried: 2, Generated: 2}, {Name: "velero", Tried: 3, Generated: 3}} {
		if _, err := addTo(name, []result{part}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := readRecord(name)
	if err != nil || len(all) != 2 || all[0].Name != "cluster-api" || all[1].Tried != 3 {
		t.Errorf("the record has %+v, %v: want cluster-api and the later result of velero, in the order of the sources", all, err)
	}
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func() error{
		func() error { _, err := addTo(name, []result{{Name: "velero"}}); return err },
		func() error { return run(t.TempDir(), "velero", name) },
	} {
		if err := read(); err == nil || !strings.Contains(err.Error(), "name another file, or delete this one") {
			t.Errorf("a broken record: %v", err)
		}
	}
	if content, err := os.ReadFile(name); err != nil || len(content) > 0 {
		t.Errorf("the broken record became %q, %v", content, err)
	}
}
