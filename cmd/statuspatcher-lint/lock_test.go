package main

import (
	"regexp"
	"strings"
	"testing"
)

// A function whose name starts with fix is safe to lock, one that starts with keep is not.
func TestLockOnlyWhereSafe(t *testing.T) {
	module(t, "cells")
	_, text, _ := runLint(t, "-audit", "-format=json", "./lockguard")
	seen := map[string]bool{}
	for _, r := range records(t, text) {
		_, name, _ := strings.Cut(r.Function, ").")
		want := strings.HasPrefix(name, "fix")
		if !want && !strings.HasPrefix(strings.ToLower(name), "keep") || r.Verdict != "fix" {
			continue
		}
		seen[name] = true
		if r.Fixable != want {
			t.Errorf("%s: fixable is %v, expected %v", name, r.Fixable, want)
		}
	}
	for name := range lockguard(t) {
		if !seen[name] {
			t.Errorf("%s was not judged", name)
		}
	}
}

var guarded = regexp.MustCompile(`(?m)^func \(r \*\w+\) ((?:fix|[kK]eep)\w+)\(`)

// lockguard is the names of the functions whose lock is judged.
func lockguard(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, src := range sources(t, "lockguard") {
		for _, m := range guarded.FindAllStringSubmatch(src, -1) {
			names[m[1]] = true
		}
	}
	if len(names) < 30 {
		t.Fatalf("found %d functions, expected more", len(names))
	}
	return names
}
