// Package class gives each status write its class: what a reviewer would write into the table after reading the code.
package class

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/engine/errflow"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// Class is the name of a way to write status, right or wrong.
type Class string

// The classes, in the order in which they take precedence where several fit one site.
const (
	Transplant        Class = "transplant"
	StaleBase         Class = "stale-base"
	AliasedBase       Class = "aliased-base"
	DeadRetry         Class = "dead-retry"
	StaleRetry        Class = "stale-retry"
	BlindMerge        Class = "blind-merge"
	BlindJSON         Class = "blind-json"
	BlindUpdate       Class = "blind-update"
	BlindApply        Class = "blind-apply"
	SwallowedConflict Class = "swallowed-conflict"
	Unflushed         Class = "unflushed"
	ClearedEarly      Class = "cleared-early"
	BehindThePatcher  Class = "behind-the-patcher"
	Unknown           Class = "unknown"
	Refetch           Class = "refetch"
	Update            Class = "update"
	Locked            Class = "locked"
	Generated         Class = "generated"
	Finalizer         Class = "finalizer"
	Metadata          Class = "metadata"
	Spec              Class = "spec"
	Child             Class = "child"
	Subresource       Class = "subresource"
)

// Verdict is what follows from a class.
type Verdict string

// The verdicts.
const (
	OK         Verdict = "ok"
	Fix        Verdict = "fix"
	Info       Verdict = "info"
	OutOfScope Verdict = "out-of-scope"
	NotKnown   Verdict = "unknown"
)

// Related is another place that explains a finding.
type Related struct {
	Pos     token.Pos
	Message string
}

// A Finding is a site with its class.
type Finding struct {
	Site    *site.Site    // nil for findings about patchers
	Call    *ast.CallExpr // what is called there
	Pos     token.Pos
	End     token.Pos
	Fn      *flow.Func
	Class   Class
	Reason  string
	Kind    types.Type // what is written; nil if it is not known
	Related []Related
	// Allowed is the reason of the directive that allows the finding; empty without one.
	Allowed string
	Fixes   []FixEdit

	// Dropped: the write's error is dropped, so that a lock would turn an overwrite into a loss.
	Dropped bool

	// empty: what is sent holds no status, so none can be lost.
	empty bool

	// Merge is the call that makes the patch, where the patch is a diff and one call makes it.
	Merge *flow.Value
	// Base is where the base was captured, if that is known.
	Base *Capture
}

// FixKind says what a fix does, for the summary of a run.
type FixKind string

// The kinds of fixes.
const (
	LockAdded  FixKind = "locked"
	Recaptured FixKind = "recaptured"
)

// FixEdit is what would fix a finding.
type FixEdit struct {
	Kind    FixKind
	Message string
	// Safe is false for a fix that is only suggested: somebody must read the code before it is applied.
	Safe     bool
	Doubt    string    // why it is only suggested
	DoubtPos token.Pos // the place that decides
	Edits    []Edit
}

// Edit replaces source text.
type Edit struct {
	Pos, End token.Pos
	Text     string
}

// Node is the syntax that the finding is about.
func (f *Finding) Node() ast.Node {
	if f.Call != nil {
		return f.Call
	}
	return f.Site.Node
}

// Verdict is the verdict of the class, or info if a directive allows it.
func (f *Finding) Verdict() Verdict {
	if f.Allowed != "" {
		return Info
	}
	return f.Class.Verdict()
}

// Classifier classifies the sites of a program. It is for one goroutine.
type Classifier struct {
	tracker *object.Tracker
	errors  errflow.Follower // what it remembers of the functions that it has looked into
	sites   map[*ast.CallExpr]*site.Site
	calls   flow.Calls // by which callers a write is judged
}

// frame is a function with the callers by which it is judged.
func (c *Classifier) frame(f *flow.Func) *flow.Frame { return &flow.Frame{Fn: f, Calls: c.calls} }

// New makes a classifier that knows about the sites; those of the whole program, if it sees that.
func New(sites []*site.Site) *Classifier {
	c := &Classifier{tracker: object.NewTracker(), errors: errflow.New(), sites: map[*ast.CallExpr]*site.Site{}}
	for _, s := range sites {
		if s.Call != nil {
			c.sites[s.Call] = s
		}
	}
	return c
}

// Tracker is the classifier's view of what happens to objects.
func (c *Classifier) Tracker() *object.Tracker { return c.tracker }

// Classify gives a site its class.
func (c *Classifier) Classify(s *site.Site) *Finding {
	f := &Finding{Site: s, Call: s.Call, Fn: s.Fn, Pos: s.Node.Pos(), End: s.Node.End(), Kind: c.kind(s)}
	if !s.Status {
		f.Class, f.Reason = c.outOfScope(s)
		return f
	}
	c.status(f)
	return f
}

func (c *Classifier) status(f *Finding) {
	s := f.Site
	switch {
	case s.Writer == kube.Generated:
		f.set(Generated, "written by the generated patcher")
	case s.Wrapper:
		c.wrapper(f)
	case s.Call == nil:
		f.unseen(hidden{"the writer's method is handed on as a value; where it is called cannot be seen", f.Pos,
			"the method is taken here; a call in its place, or of a function that is declared, is seen"})
	case s.Writer == kube.CreateOrPatch:
		f.set(BlindMerge, "CreateOrPatch sends the status as a merge patch without the optimistic lock")
		c.finish(f)
	case s.Patch() != nil:
		c.patch(f, s.Patch())
	case s.Verb == kube.Patch:
		c.data(f)
	case s.Verb == kube.Apply:
		c.apply(f, s.Object())
	case s.Verb == kube.Update:
		c.update(f)
	default:
		f.unseen(hidden{"the call creates through the status subresource, which no API server defines for status", f.Pos,
			"the call is here; an Update, a Patch or an Apply is judged"})
	}
}

func (f *Finding) set(class Class, reason string) { f.Class, f.Reason = class, reason }

// worse takes over class and reason if they come before what f has.
func (f *Finding) worse(g *Finding) {
	if f.Class == "" || rank(g.Class) < rank(f.Class) {
		f.Class, f.Reason, f.Related, f.Merge, f.Base, f.empty = g.Class, g.Reason, g.Related, g.Merge, g.Base, g.empty
	}
}

func (f *Finding) relate(pos token.Pos, message string) {
	if pos.IsValid() {
		f.Related = append(f.Related, Related{pos, message})
	}
}

// kind is the concrete type of the object that is written.
func (c *Classifier) kind(s *site.Site) types.Type {
	if s.Writer == kube.Generated {
		return kube.PatchedKind(s.Callee.Signature().Recv().Type())
	}
	if s.Wrapper {
		return nil // what the wrapper writes is found in its body
	}
	obj := s.Object()
	if obj == nil {
		if t := s.Callee.Signature().Results(); s.Writer == kube.ClientsetVerb && t.Len() > 0 {
			return t.At(0).Type()
		}
		return nil
	}
	t := s.Fn.Pkg.TypeOf(obj)
	if t == nil || !types.IsInterface(t) {
		return t
	}
	var found types.Type
	for _, v := range flow.Trace(obj, c.frame(s.Fn), isCopyAt) {
		if v.Expr == nil {
			continue
		}
		vt := concrete(v.Frame.Fn.Pkg.TypeOf(v.Expr))
		if vt == nil {
			continue
		}
		if found != nil && found.String() != vt.String() {
			return nil
		}
		found = vt
	}
	return found
}

func concrete(t types.Type) types.Type {
	if t == nil || types.IsInterface(t) || kube.Named(t) == nil || !kube.IsObject(t) {
		return nil
	}
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return nil
	}
	return t
}

// Sort puts classes into the order of precedence.
func Sort(cs []Class) {
	sort.Slice(cs, func(i, j int) bool { return cs[i].Before(cs[j]) })
}
