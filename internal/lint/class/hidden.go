package class

import "go/token"

// hidden is what decides a class and cannot be seen.
type hidden struct {
	reason  string
	pos     token.Pos // the place that hides it
	visible string    // what stands there, and what would make it visible
}

func (h hidden) there() bool { return h.reason != "" }

// unseen gives a finding the class unknown. Whoever reads it learns where the analysis ended and what to change.
func (f *Finding) unseen(h hidden) {
	f.set(Unknown, h.reason)
	f.relate(h.pos, h.visible)
}
