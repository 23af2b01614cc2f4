// Package fix says how findings are mended: by the generated patcher where all of a write stands in one function, by
// the optimistic lock where that is safe, and not at all otherwise.
package fix

import (
	"github.com/statuspatcher/statuspatcher/lint/class"
	"github.com/statuspatcher/statuspatcher/lint/flow"
	"github.com/statuspatcher/statuspatcher/lint/object"
)

// Suggest adds fixes to the findings of a package. patchers says which patcher packages exist.
func Suggest(findings []*class.Finding, tracker *object.Tracker, patchers Patchers) {
	s := &safety{tracker: tracker, busy: map[*flow.Func]bool{}}
	move(findings, s, patchers)
	retryBlocks(findings, s, patchers)
	for _, f := range findings {
		if f.Site != nil && f.Allowed == "" && len(f.Fixes) == 0 {
			recapture(f, s)
			lock(f, s)
		}
	}
}
