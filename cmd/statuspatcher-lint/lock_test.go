package main

import (
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
	if seen != 11 {
		t.Errorf("judged %d sites, expected 11", seen)
	}
}
