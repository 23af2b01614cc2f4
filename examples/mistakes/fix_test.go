package mistakes

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mended are the mistakes that lie in how status is written. The others are decisions that the code takes, which no rewrite can
// know to be wrong: what to delete (L1), what to compare with (L2), and whether an error is worth a status (L4).
var mended = []string{"L0", "L3", "L5", "L6"}

// TestFix lets the lint rule fix a copy of handwritten-operator: what it rewrites compiles, it rewrites it once, and each mistake
// in how status is written does not show any more.
func TestFix(t *testing.T) {
	c := newCopy(t)
	if before := c.mistakes(); len(before) != len(mistakes) {
		t.Fatalf("control: before the fix %d of %d mistakes were tried: %v", len(before), len(mistakes), before)
	} else {
		for name, shows := range before {
			if !shows {
				t.Errorf("control: before the fix %s does not show", name)
			}
		}
	}

	c.fix()
	c.mustRun("go vet ./controller")
	c.handOver()
	for name, shows := range c.mistakes() {
		number, _, _ := strings.Cut(name, "_")
		if want := !slices.Contains(mended, number); shows != want {
			t.Errorf("after the fix %s shows: %v, expected %v", name, shows, want)
		}
	}

	fixed := c.source()
	c.fix()
	if !bytes.Equal(c.source(), fixed) {
		t.Error("a second -fix changed something")
	}
}

// fix runs the rule as for code that moves over. Exit status 3 says that something is left to be fixed by hand.
func (c *copied) fix() {
	c.Helper()
	if out, err := c.run("statuspatcher-lint -fix -ban ./..."); err != nil && !strings.Contains(err.Error(), "exit status 3") {
		c.Fatalf("%v\n%s", err, out)
	}
}

// handOver gives the reconciler what its set-up now hands over, in the tests that make one without it.
func (c *copied) handOver() {
	c.replace("mistakes/operators_test.go", "backup: func(c client.Client, _ client.Reader)", "backup: func(c client.Client, live client.Reader)")
	c.replace("mistakes/operators_test.go", "handwritten.BackupReconciler{Client: c}", "handwritten.BackupReconciler{Client: c, APIReader: live}")
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
