package class

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/errflow"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// finish looks at what becomes of the write's error: a retry around a write that cannot conflict is dead, a conflict
// that is dropped loses the status.
func (c *Classifier) finish(f *Finding) {
	s := f.Site
	if s.Call == nil {
		return
	}
	switch f.Class {
	case BlindMerge, BlindJSON, BlindUpdate, BlindApply:
		if f.Class == BlindApply && !forced(s) {
			return // an apply without force conflicts on fields that others own
		}
		out := c.followerOf(s).Follow(s.Fn, s.Call)
		f.Dropped = out.Dropped
		if pos := c.retryAround(s.Fn, s.Call, 0); pos.IsValid() {
			f.set(DeadRetry, "the retry waits for a conflict that this write cannot get: "+f.Reason)
			f.relate(pos, "the retry is here")
		} else if out.Tested.IsValid() {
			f.set(DeadRetry, "the branch waits for a conflict that this write cannot get: "+f.Reason)
			f.relate(out.Tested, "the conflict is asked for here")
		}
	case Update, Refetch, Locked:
		if pos := c.staleRetry(s); pos.IsValid() {
			f.set(StaleRetry, "the retry writes the object that was read before it, so that after a conflict every attempt conflicts again: read and decide inside the retry")
			f.relate(pos, "the retry is here")
			return
		}
		out := c.followerOf(s).Follow(s.Fn, s.Call)
		if out.Dropped && !f.empty {
			f.set(SwallowedConflict, "a conflict of this write is not returned, and nothing here queues the object again: unless something else does, the status is lost")
			f.relate(out.At, "the conflict ends here")
		}
	}
}

func (c *Classifier) follower() *errflow.Follower {
	copied := c.errors
	copied.Calls = c.calls
	return &copied
}

// followerOf does not count as lost what a later write of the same object sends again.
func (c *Classifier) followerOf(s *site.Site) *errflow.Follower {
	var paths []string
	if obj := s.Object(); obj != nil {
		paths = pathsOf(s.Fn, obj)
	}
	rewrites := func(f *flow.Func, node ast.Node) bool {
		if len(paths) == 0 || f.Outermost() != s.Fn.Outermost() {
			return false
		}
		for _, ev := range c.tracker.Events(f, node) {
			if ev.Kind == object.Write && ev.Call != s.Call && contains(paths, ev.Path) && c.writesStatus(ev) {
				return true
			}
		}
		return false
	}
	follower := c.follower()
	follower.Fresh = c.madeEachTime(s)
	follower.Rewrites, follower.Others = rewrites, func(f *flow.Func) bool { return c.otherConflicts(f, s.Call) }
	return follower
}

// madeEachTime: the object is a variable of the writing function's own, so each call of it writes another one.
func (c *Classifier) madeEachTime(s *site.Site) bool {
	obj := s.Object()
	if obj == nil {
		return false
	}
	v := rootVar(s.Fn.Pkg, obj)
	for range 4 {
		of := ast.Expr(nil)
		if v == nil || s.Fn.Pkg.Owner(v) != s.Fn {
			return false
		}
		if _, param := s.Fn.ParamIndex(v); param {
			return false
		}
		for _, d := range s.Fn.AllDefs(v) {
			if copied, ok := isCopy(s.Fn.Pkg, d.Rhs); d.Rhs != nil && ok {
				of = copied
			}
		}
		if of == nil {
			return true
		}
		v = rootVar(s.Fn.Pkg, of)
	}
	return false
}

func (c *Classifier) writesStatus(ev object.Event) bool {
	s := c.sites[ev.Call]
	return s != nil && s.Status
}

// forced: the apply takes over fields from other managers instead of conflicting with them.
func forced(s *site.Site) bool {
	found := false
	for _, a := range s.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "ForceOwnership" || id.Name == "Force") {
				found = true
			}
			return !found
		})
	}
	return found
}
