package migrate

import (
	"fmt"
	"io"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/unified"
)

// Print writes the plan for a person.
func (p *Plan) Print(w io.Writer) error {
	var b strings.Builder
	step(&b, "Step 1: check every status write with a wrapped client", p.Wrap)
	step(&b, "Step 2: generate patchers", p.APIs)
	b.WriteString("Step 3: move the call sites\n")
	if len(p.Sites) == 0 {
		b.WriteString("  there is no handwritten status write\n")
	}
	for _, s := range p.Sites {
		b.WriteString(s.line())
	}
	b.WriteString(p.Summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func step(b *strings.Builder, title string, notes []Note) {
	if len(notes) == 0 {
		return
	}
	b.WriteString(title + "\n")
	for _, n := range notes {
		if n.At != "" {
			b.WriteString("  " + n.At + ": " + n.Text + "\n")
		} else {
			b.WriteString("  " + n.Text + "\n")
		}
	}
}

func (s Site) line() string {
	kind := s.Kind
	if kind == "" {
		kind = "?"
	}
	note := ""
	if s.Note != "" {
		note = "      note: " + s.NoteAt + ": " + s.Note + "\n"
	}
	if s.Verdict == Moved {
		return fmt.Sprintf("  %s: moved (%s, %s)\n%s", s.At, kind, s.Shape, note)
	}
	line := fmt.Sprintf("  %s: left (%s): ", s.At, kind)
	if s.ReasonAt != "" && s.ReasonAt != s.At {
		line += s.ReasonAt + ": "
	}
	line += s.Reason
	if s.ByHand != "" {
		line += "\n      by hand: " + s.ByHand
	}
	return line + "\n" + note
}

// Summary is the last line of the plan.
func (p *Plan) Summary() string {
	c := p.Counts()
	return fmt.Sprintf("%d status writes: %d checked by the wrapped client; %d moved; %d left, %d of which carry a lock already",
		c.Writes, c.Checked, c.Moved, c.Left, c.Locked)
}

// Diff returns the changes of the plan as a unified diff.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		name := audit.Relative(p.module.Dir, c.Name)
		b.WriteString(unified.Diff("a/"+name, "b/"+name, c.Before, c.After))
	}
	return b.String()
}
