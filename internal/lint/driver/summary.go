package driver

import (
	"fmt"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Summary says what became of the items: how many were locked or captured again, and how many are left, each with
// its one reason.
func (m *Module) Summary(fixed *Fixed, items []Item) string {
	done := map[class.FixKind]int{}
	var left []string
	for _, it := range items {
		if fix := safeFix(it.Finding); fix != nil && fixed.Done[it.Finding] {
			done[fix.Kind]++
			continue
		}
		left = append(left, fmt.Sprintf("\tleft: %s: %s: %s", m.Position(it.Finding.Pos), it.Finding.Class, m.leftBecause(it)))
	}
	head := fmt.Sprintf("locked %d, recaptured %d, left %d", done[class.LockAdded], done[class.Recaptured], len(left))
	return strings.Join(append([]string{head}, left...), "\n")
}

// leftBecause is the reason that decides: the last fix that was tried is the one that asks for least.
func (m *Module) leftBecause(it Item) string {
	f := it.Finding
	switch {
	case safeFix(f) != nil:
		return "the package does not compile after this fix, or the fix overlaps another one: run -fix again"
	case len(f.Fixes) > 0:
		return m.doubt(f.Fixes[len(f.Fixes)-1])
	}
	return "no automatic fix; see " + class.URL(f.Class)
}
