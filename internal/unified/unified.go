// Package unified writes diffs for people and for git apply.
package unified

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff is the change from old to new as a unified diff with these names; empty when there is none.
func Diff(from, to string, old, new []byte) string {
	text := diff.Diff(from, old, to, new)
	// The first line repeats the names, and git apply takes it for nothing.
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
		return string(rest)
	}
	return ""
}
