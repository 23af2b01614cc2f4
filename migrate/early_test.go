package migrate_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The plan has a note where a field is cleared before a step that can fail and the status is sent also then, where a conflict is dropped
// that could not happen before, and nowhere else.
func TestNotes(t *testing.T) {
	dir := operator(t)
	p := plan(t, dir, "./early")
	lines := strings.Split(read(t, filepath.Join(dir, "early", "early.go")), "\n")
	expected := regexp.MustCompile(`// (?:note: (\d+)|no note)$`)
	for _, s := range p.Sites {
		line, err := strconv.Atoi(strings.Split(s.At, ":")[1])
		if err != nil {
			t.Fatal(err)
		}
		m := expected.FindStringSubmatch(lines[line-1])
		if m == nil {
			t.Fatalf("%s: the fixture expects nothing", s.At)
		}
		want := ""
		if m[1] != "" {
			want = "early/early.go:" + m[1] + ":"
		}
		if (want == "") != (s.Note == "") || !strings.HasPrefix(s.NoteAt, want) {
			t.Errorf("%s: note %q at %s, expected one at %q", s.At, s.Note, s.NoteAt, want)
		}
	}
	var text strings.Builder
	if err := p.Print(&text); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n      note: early/early.go:"); n != 3 || len(p.Sites) != 7 {
		t.Errorf("%d notes about %d writes, expected 3 about 7:\n%s", n, len(p.Sites), text.String())
	}
}
