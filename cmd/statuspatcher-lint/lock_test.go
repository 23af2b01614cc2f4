package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A function whose name starts with fix is safe to lock, one that starts with keep is not.
func TestLockOnlyWhereSafe(t *testing.T) {
	module(t, "cells")
	_, text, _ := runLint(t, "-audit", "-format=json", "./lockguard")
	seen := 0
	for _, r := range records(t, text) {
		_, name, _ := strings.Cut(r.Function, ").")
		want := strings.HasPrefix(name, "fix")
		if !want && !strings.HasPrefix(strings.ToLower(name), "keep") || r.Verdict != "fix" {
			continue
		}
		seen++
		if r.Fixable != want {
			t.Errorf("%s: fixable is %v, expected %v", name, r.Fixable, want)
		}
	}
	if seen != 21 {
		t.Errorf("judged %d sites, expected 21", seen)
	}
}

// Where the patcher package is missing, -fix says how to make it.
func TestGeneratorCommand(t *testing.T) {
	dir := module(t, "cells")
	if err := os.RemoveAll(filepath.Join(dir, "api", "v1", "v1status")); err != nil {
		t.Fatal(err)
	}
	_, _, stderr := runLint(t, "-diff", "./api/v1", "./blindmerge")
	if want := "make it with: statuspatcher-gen paths=./api/v1\n"; !strings.Contains(stderr, want) {
		t.Errorf("stderr is %q, expected %q in it", stderr, want)
	}
}
