package mistakes

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fixed are the mistakes that -fix cures alone: decisions on a stale read (L0) and a base that is older than the finalizer (L5). The others
// are decisions that the code takes, or need a generated patcher.
var fixed = []string{"L0", "L5"}

// TestFix lets the lint rule fix a copy of handwritten-operator: what it changes compiles, it changes it once, and each mistake that a lock
// or a new base cures does not show any more.
func TestFix(t *testing.T) {
	c := newCopy(t)
	if before := c.mistakes(); len(before) != len(mistakes) {
		t.Fatalf("negative control: before the fix %d of %d mistakes were tried: %v", len(before), len(mistakes), before)
	} else {
		for name, shows := range before {
			if !shows {
				t.Errorf("negative control: before the fix %s does not show", name)
			}
		}
	}

	c.fix()
	c.mustRun("go vet ./controller")
	for name, shows := range c.shown() {
		number, _, _ := strings.Cut(name, "_")
		if want := !slices.Contains(fixed, number); shows != want {
			t.Errorf("after the fix %s shows: %v, expected %v", name, shows, want)
		}
	}

	once := c.source()
	c.fix()
	if !bytes.Equal(c.source(), once) {
		t.Error("a second -fix changed something")
	}
}

// fix applies the fixes. Exit status 3 says that something is left to be fixed by hand.
func (c *copied) fix() {
	c.Helper()
	if out, err := c.run("statuspatcher-lint -fix ./..."); err != nil && !strings.Contains(err.Error(), "exit status 3") {
		c.Fatalf("%v\n%s", err, out)
	}
}

var tried = regexp.MustCompile(`(?m)^ +--- (PASS|FAIL): TestMistakes/(\S+)/handwritten`)

// mistakes tells of each mistake whether it shows.
func (c *copied) mistakes() map[string]bool {
	c.Helper()
	out, err := c.run("go test -v -run 'TestMistakes/.*/handwritten' ./mistakes")
	shows, gone := map[string]bool{}, 0
	for _, m := range tried.FindAllStringSubmatch(out, -1) {
		shows[m[2]] = m[1] == "PASS"
		if !shows[m[2]] {
			gone++
		}
	}
	if len(shows) == 0 || gone != strings.Count(out, "the mistake does not show") {
		c.Fatalf("%v\n%s", err, out)
	}
	return shows
}
