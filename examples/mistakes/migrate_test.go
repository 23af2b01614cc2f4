package mistakes

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// migrated are the mistakes that a move to generated calls cures: decisions on a stale read (L0), an edit whose write failed (L3), and
// a base that is older than the finalizer (L5). What happens after a conflict (L6) stays as it was written.
var migrated = []string{"L0", "L3", "L5"}

// TestMigrate moves a copy of handwritten-operator: every write is moved, the code compiles, and a second run changes nothing.
func TestMigrate(t *testing.T) {
	c := newCopy(t)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", c.checkout, "-o", c.dir+"/bin/", "./cmd/statuspatcher-migrate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, shows := range c.mistakes() {
		if !shows {
			t.Errorf("negative control: before the move %s does not show", name)
		}
	}

	out, err := c.run("statuspatcher-migrate -w ./controller/...")
	if err != nil || !strings.Contains(out, " 10 moved; 0 left") {
		t.Fatalf("%v\n%s", err, out)
	}
	if left := bytes.Count(c.source(), []byte(".Status().")); left > 0 {
		t.Errorf("%d handwritten writes are left", left)
	}
	c.mustRun("go vet ./controller")
	for name, shows := range c.shown() {
		number, _, _ := strings.Cut(name, "_")
		if want := !slices.Contains(migrated, number); shows != want {
			t.Errorf("after the move %s shows: %v, expected %v", name, shows, want)
		}
	}

	moved := c.source()
	c.mustRun("statuspatcher-migrate -w ./controller/...")
	if !bytes.Equal(c.source(), moved) {
		t.Error("a second -w changed something")
	}
}

var started = regexp.MustCompile(`(?m)^=== RUN +TestMistakes/([^/\s]+)/handwritten$`)

// shown says of each mistake whether it shows, whatever its symptom is by now: an injected conflict meets other requests after the move.
func (c *copied) shown() map[string]bool {
	c.Helper()
	out, err := c.run("go test -v -run 'TestMistakes/.*/handwritten' ./mistakes")
	runs := started.FindAllStringSubmatchIndex(out, -1)
	if len(runs) != len(mistakes) {
		c.Fatalf("%d mistakes were tried, expected %d: %v\n%s", len(runs), len(mistakes), err, out)
	}
	shows := map[string]bool{}
	for i, run := range runs {
		end := len(out)
		if i+1 < len(runs) {
			end = runs[i+1][0]
		}
		shows[out[run[2]:run[3]]] = !strings.Contains(out[run[1]:end], "the mistake does not show")
	}
	return shows
}
