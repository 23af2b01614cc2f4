// Package fix says how findings are fixed, if a small local change can be shown to change nothing but the race:
//
//   - recapture: a stale base is captured again after the write that made it stale;
//   - lock: the optimistic lock is added.
//
// What cannot be shown to be safe is only suggested, with the reason. A lock in the wrong place conflicts forever.
package fix

import (
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Suggest adds fixes to the findings of a package.
func Suggest(findings []*class.Finding, tracker *object.Tracker) {
	s := &safety{tracker: tracker}
	for _, f := range findings {
		if f.Site != nil && f.Allowed == "" {
			recapture(f, s)
			lock(f, s)
		}
	}
}
