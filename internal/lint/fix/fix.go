// Package fix says how findings are fixed, in the first of these ways that can be shown to change nothing but the race:
//
//   - move: read, base and writes of a function become Fetch and Flush of the generated patcher, in its helpers too, an update
//     of a finalizer between them PatchMetadata;
//   - retry: RetryOnConflict around all of them becomes Retry, where the set-up can hand over a reader past the cache;
//   - recapture: a stale base is captured again after the write that made it stale;
//   - lock: the optimistic lock is added.
//
// What nobody could show is at most suggested, with the doubt. A lock in the wrong place conflicts for ever.
package fix

import (
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Suggest adds fixes to the findings of a package. patchers says which patcher packages exist.
func Suggest(findings []*class.Finding, tracker *object.Tracker, patchers Patchers) {
	s := &safety{tracker: tracker}
	move(findings, s, patchers)
	retryBlocks(findings, s, patchers)
	for _, f := range findings {
		if f.Site != nil && f.Allowed == "" && !hasSafe(f) {
			recapture(f, s)
			lock(f, s)
		}
	}
}

func hasSafe(f *class.Finding) bool {
	for _, fix := range f.Fixes {
		if fix.Safe {
			return true
		}
	}
	return false
}
