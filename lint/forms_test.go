package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

var (
	found    = regexp.MustCompile("// want `([a-z-]+): ")
	is       = regexp.MustCompile(`// is ([a-z-]+)\n`)
	nearMiss = regexp.MustCompile(`[Nn]ear miss of ([a-z-]+)`)
)

// Each class has three forms that are found, and three that are near it and are not.
func TestForms(t *testing.T) {
	forms, misses := map[string]int{}, map[string]int{}
	eachFixture(t, func(_, src string) {
		for _, re := range []*regexp.Regexp{found, is} {
			for _, m := range re.FindAllStringSubmatch(src, -1) {
				forms[m[1]]++
			}
		}
		for _, m := range nearMiss.FindAllStringSubmatch(src, -1) {
			misses[m[1]]++
		}
	})
	for _, c := range class.All() {
		t.Logf("%-20s %2d found, %d near misses", c, forms[string(c)], misses[string(c)])
		if forms[string(c)] < 3 || misses[string(c)] < 3 {
			t.Errorf("%s has %d forms and %d near misses, expected three of each", c, forms[string(c)], misses[string(c)])
		}
	}
}

func eachFixture(t *testing.T, visit func(name, src string)) {
	t.Helper()
	err := filepath.WalkDir(fixture(t, "cells"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		src, err := os.ReadFile(name)
		visit(name, string(src))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What the lint does not report the audit lists: each line that says what it is, and no other.
func TestScope(t *testing.T) {
	got := map[string]string{}
	for _, it := range load(t, "./scope").Check(check.Options{}).Items {
		got[it.Record.File+":"+strconv.Itoa(it.Record.Line)] = string(it.Record.Class)
	}
	eachFixture(t, func(name, src string) {
		for i, line := range strings.SplitAfter(src, "\n") {
			m := is.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			at := "scope/" + filepath.Base(name) + ":" + strconv.Itoa(i+1)
			if got[at] != m[1] {
				t.Errorf("%s is %q, expected %s", at, got[at], m[1])
			}
			delete(got, at)
		}
	})
	for at, c := range got {
		t.Errorf("%s is %s, expected nothing there", at, c)
	}
}
