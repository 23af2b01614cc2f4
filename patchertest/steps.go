package patchertest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// row is a step of the table with what the hint needs.
type row struct {
	world.Record
	Note     string
	unlocked bool
	blind    bool // it overwrote a version that its writer never read
}

// tableOf picks the steps that a reader needs: calls, faults and foreign writes always; what a cache learns, and where
// a reconcile begins, only where a later step shows that it mattered.
func tableOf(o outcome) []row {
	var out []row
	log, notes := o.world.Server.Log(), o.world.Notes()
	for i, record := range o.world.Records {
		if record.Hidden {
			continue
		}
		r := row{Record: record}
		for at, note := range notes {
			if note.Step != i {
				continue
			}
			if value := wrote(log[at].After, log[at].Before, o.focus); value != "" {
				r.Call += " " + value
			}
			if log[at].IsStatus && note.Read != nil && log[at].Before != nil && world.Version(note.Read) != world.Version(log[at].Before) {
				r.blind, r.unlocked = true, !note.Locked
				r.Note = fmt.Sprintf("overwrote %s, which it never read", world.Version(log[at].Before))
			}
		}
		if r.Saw != "" && len(o.focus) > 0 {
			r.Answer = focused(o.world.Records[i], o.focus)
		}
		out = append(out, r)
	}
	return out
}

// wrote shows what a write changed: the fields in focus, else the fields of status that differ.
func wrote(after, before map[string]any, focus []string) string {
	for _, path := range focus {
		value, ok := valueAt(after, path)
		if old, had := valueAt(before, path); ok && (!had || old != value) {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// focused keeps of a status the fields in focus; where all are absent it says so.
func focused(r world.Record, focus []string) string {
	status, ending, _ := strings.Cut(r.Answer, ";")
	var kept []string
	for _, path := range focus {
		name := strings.TrimPrefix(path, "status.")
		found := false
		for _, part := range strings.Split(status, ", ") {
			if strings.HasPrefix(part, name+"=") || strings.HasPrefix(part, name+".") {
				kept, found = append(kept, part), true
			}
		}
		if !found {
			first, _, _ := strings.Cut(name, ".")
			kept = append(kept, first+"=nil")
		}
	}
	text := strings.Join(kept, ", ")
	if ending != "" {
		text += ";" + ending
	}
	return text
}

// hintOf names the write that did it.
func hintOf(rows []row) string {
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		if !r.blind {
			continue
		}
		where := ""
		if r.Site != "" {
			where = " (" + r.Site + ")"
		}
		if r.unlocked {
			return fmt.Sprintf("step %d carried no resourceVersion%s", i+1, where)
		}
		return fmt.Sprintf("step %d carried the resourceVersion of a version that its writer had not decided on%s", i+1, where)
	}
	return ""
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// namer gives random names a short one, by the order in which they are seen.
type namer struct{ seen map[string]string }

func (n *namer) name(text string) string {
	return uuid.ReplaceAllStringFunc(text, func(id string) string {
		if n.seen == nil {
			n.seen = map[string]string{}
		}
		if n.seen[id] == "" {
			n.seen[id] = fmt.Sprintf("uuid-%d", len(n.seen)+1)
		}
		return n.seen[id]
	})
}
