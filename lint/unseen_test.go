package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Whatever cannot be seen is named, with its position and with what would make it visible.
func TestUnknownNamesWhatHidesIt(t *testing.T) {
	m := load(t, "./unseen", "./reach", "./blindapply", "./program/storing")
	seen := 0
	for _, it := range m.Check(check.Options{}).Items {
		if it.Finding.Class != class.Unknown {
			continue
		}
		seen++
		if len(it.Finding.Related) == 0 || !it.Finding.Related[0].Pos.IsValid() || !strings.Contains(it.Finding.Related[0].Message, "; ") {
			t.Errorf("%s: %q names no place, or nothing that would make it visible: %v", m.Position(it.Finding.Pos), it.Finding.Reason, it.Finding.Related)
		}
	}
	if seen < 10 {
		t.Errorf("%d unknown findings, expected ten forms at least", seen)
	}
}

// A reason for unknown is given in one way, which asks for the place and for what would make it visible.
func TestUnknownIsSetInOnePlace(t *testing.T) {
	files, err := filepath.Glob("../internal/lint/class/*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) != "hidden.go" && strings.Contains(string(src), "set(Unknown") {
			t.Errorf("%s sets the class unknown itself, expected unseen(hidden{...})", name)
		}
	}
}
