package migrate

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
)

// Options say what to migrate.
type Options struct {
	// Dir is the directory that the patterns start from.
	Dir string
	// Patterns are Go package patterns.
	Patterns []string
	// Tags are build tags, separated by commas.
	Tags string
	// Only narrows the call sites to those whose package, kind or function it names; empty for all.
	Only string
}

// A Plan is what a migration would do.
type Plan struct {
	// Sites are all handwritten status writes, and what becomes of each.
	Sites []Site
	// Changes are the files whose call sites change.
	Changes []*Change
	// Wrap says where clients are wrapped, and what that needs.
	Wrap []Note
	// APIs says which patchers are generated.
	APIs []Note
	// Problems are packages that could not be loaded in full.
	Problems []error

	options Options
	module  *driver.Module
	// src are the files as they were when the plan was made: decisions that are made again count on them.
	src     *sources
	mover   *mover
	moves   []*move
	held    map[string]string // writes that must stay, with the reason, by place
	written map[string][]byte // files that were rewritten, as they were before
}

// A Note is a step of the plan that is not about one write.
type Note struct {
	At   string // file:line, or empty
	Text string // what to do
}

// Verdict is what becomes of a write.
type Verdict string

// The verdicts.
const (
	Moved Verdict = "moved"
	Left  Verdict = "left"
)

// A Site is a handwritten status write and what becomes of it.
type Site struct {
	At       string  `json:"at"`                 // file:line:column
	Function string  `json:"function"`           // the declaration around it
	Call     string  `json:"call"`               // as it stands there
	Kind     string  `json:"kind,omitempty"`     // empty if the code does not say
	Own      bool    `json:"own"`                // the static type is a kind that patchers are, or can be, generated for
	Verdict  Verdict `json:"verdict"`            // moved or left
	Shape    string  `json:"shape"`              // how it is made
	Class    string  `json:"class"`              // what the lint rule calls it
	Checked  bool    `json:"checked"`            // a wrapped client checks it
	Locked   bool    `json:"locked"`             // it carries a lock as it is
	Reason   string  `json:"reason,omitempty"`   // why it is left
	ReasonAt string  `json:"reasonAt,omitempty"` // file:line:column of what decides
	ByHand   string  `json:"byHand,omitempty"`   // what to do about it
	Note     string  `json:"note,omitempty"`     // what a reviewer should look at
	NoteAt   string  `json:"noteAt,omitempty"`   // file:line:column of that

	write *write
}

// Make loads the packages and decides about every status write. It changes nothing.
func Make(o Options) (*Plan, error) {
	p := &Plan{options: o}
	m, err := driver.Load{Dir: o.Dir, Patterns: o.Patterns, Tags: o.Tags}.Run()
	if err != nil {
		return nil, fmt.Errorf("cannot load %s: %w", strings.Join(o.Patterns, " "), err)
	}
	for _, problem := range m.Problems {
		p.Problems = append(p.Problems, problem)
	}
	p.module, p.src = m, newSources(m.Fset)
	p.decide(nil)
	p.note()
	return p, nil
}

// decide judges every write; held are the places of writes that must stay, with the reason.
func (p *Plan) decide(held map[string]string) {
	m := p.module
	writes, classifier := findWrites(m.Program)
	p.mover = &mover{fset: m.Fset, program: m.Program, src: p.src, tracker: classifier.Tracker(), edits: newEdits(m.Program, classifier.Tracker()), apis: newAPIs(m)}
	p.Sites, p.moves = nil, nil
	reasons := map[*write]*reason{}
	byWrite := map[*write]*move{}
	broken := map[string]string{}
	for _, problem := range m.Problems {
		broken[problem.Package] = problem.Errors[0]
	}
	for _, w := range writes {
		mv, why := p.mover.decide(w)
		if text, ok := broken[w.pkg.Types.Path()]; ok {
			mv, why = nil, because(w.Node, "make the package compile, and migrate again", "the package does not type-check: %s", text)
		}
		if text, ok := held[p.at(w)]; ok && mv != nil {
			mv, why = nil, because(w.Node, "look at the test, and move the write by hand", "%s", text)
		}
		if mv != nil && !p.wanted(w) {
			mv, why = nil, because(w.Node, "migrate again without -only", "-only leaves it out")
		}
		if mv != nil {
			byWrite[w] = mv
			p.moves = append(p.moves, mv)
			continue
		}
		reasons[w] = why
	}
	changes, failed := p.mover.rewrite(p.moves, p.flowPackages())
	p.Changes = changes
	var moves []*move
	for _, mv := range p.moves {
		if why := failed[mv]; why != nil {
			reasons[mv.write], byWrite[mv.write] = why, nil
			continue
		}
		moves = append(moves, mv)
	}
	p.moves = moves
	for _, w := range writes {
		p.Sites = append(p.Sites, p.site(w, byWrite[w], reasons[w]))
	}
}

func (p *Plan) site(w *write, mv *move, why *reason) Site {
	s := Site{At: p.at(w), Function: w.Fn.Outermost().Name(), Call: callText(p.mover.src.text(w.Node)), Shape: p.mover.form(w), Class: string(w.finding.Class), write: w}
	if kind := w.static(); kind != nil {
		s.Kind = kind.Obj().Pkg().Name() + "." + kind.Obj().Name()
		s.Own = p.mover.apis.own(kind)
	}
	s.Checked = w.Writer == kube.SubResource || w.Writer == kube.CreateOrPatch
	switch w.finding.Class {
	case class.Update, class.Refetch, class.Locked, class.SwallowedConflict, class.StaleRetry, class.Transplant:
		s.Locked = true
	}
	s.Note, s.NoteAt = p.noteOf(w, mv != nil)
	if mv != nil {
		s.Verdict = Moved
		return s
	}
	s.Verdict, s.Reason, s.ByHand = Left, why.text, why.hint
	if why.pos.IsValid() {
		s.ReasonAt = p.module.Position(why.pos)
	}
	return s
}

// noteOf is what a reviewer should look at: what the move keeps, or what it changes after a conflict.
func (p *Plan) noteOf(w *write, moved bool) (text, at string) {
	if cleared, step := p.mover.clearedEarly(w); cleared != nil {
		return "this field of the status is cleared before the write at " + p.module.Position(step.Pos()) +
			", which can fail; then the status is sent all the same: clear the field after the write", p.module.Position(cleared.Pos())
	}
	if moved && w.finding.Dropped {
		return "nothing returns the error of this write: the patch used to overwrite what it conflicts with now, so return the error, or queue the object again", p.at(w)
	}
	return "", ""
}

// callText is the first line of a call, shortened.
func callText(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if len(first) > 80 {
		first, more = first[:80], true
	}
	if more {
		first += "..."
	}
	return first
}

func (p *Plan) at(w *write) string { return p.module.Position(w.Node.Pos()) }

// wanted reports whether -only names the write: a package by its import path or directory, a kind, or a function.
func (p *Plan) wanted(w *write) bool {
	only := p.options.Only
	if only == "" {
		return true
	}
	kind := ""
	if n := w.static(); n != nil {
		kind = n.Obj().Name()
	}
	file := audit.Relative(p.module.Dir, p.module.Fset.Position(w.Node.Pos()).Filename)
	dir := filepath.ToSlash(filepath.Dir(file))
	path := w.pkg.Types.Path()
	return only == kind || only == w.Fn.Outermost().Name() || only == path || strings.HasSuffix(path, "/"+only) || strings.TrimPrefix(only, "./") == dir
}

// Counts sum a plan up.
type Counts struct {
	Writes  int // all handwritten status writes
	Own     int // whose static type is a kind that patchers are, or can be, generated for
	Checked int // that a wrapped client checks
	Moved   int // to generated calls
	Left    int // as they are
	Locked  int // of those that are left, the ones that carry a lock already
}

// Counts counts the writes of the plan.
func (p *Plan) Counts() Counts {
	var c Counts
	for _, s := range p.Sites {
		c.Writes++
		if s.Own {
			c.Own++
		}
		if s.Checked {
			c.Checked++
		}
		switch {
		case s.Verdict == Moved:
			c.Moved++
		case s.Locked:
			c.Locked++
			c.Left++
		default:
			c.Left++
		}
	}
	return c
}

// ByShape counts the moved writes of each shape.
func (p *Plan) ByShape() []string {
	counts := map[string]int{}
	for _, s := range p.Sites {
		if s.Verdict == Moved {
			counts[s.Shape]++
		}
	}
	var out []string
	for shape, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", shape, n))
	}
	sort.Strings(out)
	return out
}
