package patchertest

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
)

// Report is what an exploration found.
type Report struct {
	// Violation is the counterexample, or nil.
	Violation *Violation
	// Schedules is how many were run to their end.
	Schedules int
	// Exhaustive is true if every schedule within the bounds was run, but for those that only repeat others.
	Exhaustive bool

	settings settings
	failing  int
	replayed bool
	part     schedule.Shard
}

// Violation is a counterexample, or what is wrong with the model.
type Violation struct {
	// Invariant is the name of the invariant; "livelock" if the model never comes to rest; or, if Broken, what is wrong
	// with the model: "deterministic", "blocked", "stuck", "goroutine that never ends", "model" or "replay".
	Invariant string
	// Detail says what was found.
	Detail string
	// Hint says where to look.
	Hint string
	// Steps is the shortest schedule that was found to show it.
	Steps []ReportStep
	// Token replays the schedule: go test -run TestName -patchertest.replay=Token
	Token string
	// Broken tells that the model is at fault and no invariant was judged.
	Broken bool
}

// ReportStep is one step of a schedule.
type ReportStep struct {
	Who    string // a replica, or a foreign writer
	Call   string // the verb, the object, and the cache if that was asked
	Saw    string // the resourceVersion that a read returned
	Answer string // what was read, or the HTTP status of a write; how the reconcile ended
	Note   string // such as what the write overwrote
	System string // the outside system that was called; empty for a call to the API
}

// String is the report for people.
func (r *Report) String() string {
	if r.Violation == nil {
		return "no violation: " + r.bounds() + ", " + r.extent()
	}
	v := r.Violation
	var b strings.Builder
	if v.Broken {
		fmt.Fprintf(&b, "MODEL %s: %s\n", v.Invariant, v.Detail)
		return b.String()
	}
	fmt.Fprintf(&b, "VIOLATED %s: %s        %s, %s\n", v.Invariant, v.Detail, r.bounds(), r.extent())
	v.writeSteps(&b)
	if v.Hint != "" {
		fmt.Fprintf(&b, "hint: %s\n", v.Hint)
	}
	fmt.Fprintf(&b, "replay: -patchertest.replay=%s\n", v.Token)
	return b.String()
}

// longTable is how many steps are shown; of a longer schedule the middle is left out.
const longTable = 40

func (v *Violation) writeSteps(b *strings.Builder) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, " step\twho\tcall\tsaw\tanswer")
	for i, s := range v.Steps {
		if hidden := len(v.Steps) - longTable; hidden > 0 && i >= longTable/2 && i < longTable/2+hidden {
			if i == longTable/2 {
				fmt.Fprintf(table, " ...\t%d more steps\t\t\t\n", hidden)
			}
			continue
		}
		answer := s.Answer
		if s.Note != "" {
			answer += "   " + s.Note
		}
		fmt.Fprintf(table, " %d\t%s\t%s\t%s\t%s\n", i+1, s.Who, s.Call, s.Saw, answer)
	}
	_ = table.Flush()
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	b.Reset()
	b.WriteString(strings.Join(lines, "\n"))
}

func (r *Report) bounds() string {
	s := r.settings
	parts := []string{count(s.replicas, "replica")}
	if s.stale {
		parts = append(parts, "stale reads")
	}
	if s.crashes > 0 {
		parts = append(parts, count(s.crashes, "crash"))
	}
	if s.timeouts > 0 {
		parts = append(parts, count(s.timeouts, "timeout"))
	}
	return strings.Join(parts, ", ")
}

func (r *Report) extent() string {
	extent := fmt.Sprintf("sampled %d", r.Schedules)
	switch {
	case r.replayed:
		return "replayed"
	case r.Exhaustive:
		extent = "exhaustive within bounds"
	case r.Violation != nil:
		extent = "until found"
	}
	if r.Violation != nil {
		return fmt.Sprintf("%s, %d of %s", extent, r.failing, count(r.Schedules, "schedule"))
	}
	if !r.Exhaustive {
		return extent
	}
	if r.part.Count > 1 {
		extent = fmt.Sprintf("shard %d of %d exhaustive within bounds", r.part.Index, r.part.Count)
	}
	return extent + ", " + count(r.Schedules, "schedule")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "sh") {
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// violation makes the counterexample of a recorded schedule.
func (e *explorer) violation(o outcome, token string) *Violation {
	v := &Violation{Token: token}
	if o.violation == nil {
		v.Invariant, v.Detail, v.Broken = o.verdict.Invariant, o.verdict.Detail, o.verdict.Broken
		return v
	}
	v.Invariant, v.Detail, v.Broken = o.violation.Invariant, o.violation.Detail, o.violation.Broken
	if o.world == nil {
		return v
	}
	n := &namer{}
	table := tableOf(o)
	for _, s := range table {
		v.Steps = append(v.Steps, ReportStep{Who: s.Who, Call: n.name(s.Call), Saw: s.Saw, Answer: n.name(s.Answer), Note: s.Note, System: s.System})
	}
	v.Detail, v.Hint = n.name(v.Detail), hintOf(table)
	return v
}
