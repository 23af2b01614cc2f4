package unified

import (
	"strings"
	"testing"
)

// Two changes that share a hunk move the lines of the next one.
func TestDiffCountsLines(t *testing.T) {
	lines := strings.SplitAfter("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n", "\n")
	changed := append([]string(nil), lines...)
	changed[1], changed[4], changed[16] = "2\n2a\n", "5a\n", ""
	got := Diff("a/f", "b/f", []byte(strings.Join(lines, "")), []byte(strings.Join(changed, "")))
	want := "--- a/f\n+++ b/f\n" +
		"@@ -1,8 +1,9 @@\n 1\n 2\n+2a\n 3\n 4\n-5\n+5a\n 6\n 7\n 8\n" +
		"@@ -14,7 +15,6 @@\n 14\n 15\n 16\n-17\n 18\n 19\n 20\n"
	if got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	if same := Diff("a", "a", []byte("x\n"), []byte("x\n")); same != "" {
		t.Errorf("no change is %q", same)
	}
}
