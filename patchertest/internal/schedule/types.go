// Package schedule decides in which orders the steps of a model are tried. It knows threads, steps and what they touch,
// and nothing of Kubernetes: package world tells it what can run next and what each step touched.
package schedule

// Mode is how a step touches a location.
type Mode uint8

// Two steps are dependent if they touch one location and their modes do not commute: reads commute with reads, and
// additions (of a key to a set, of an object to a kind) with additions.
const (
	Read Mode = iota
	Write
	Add
)

// Access is one location that a step touches.
type Access struct {
	Loc  string
	Mode Mode
}

func (a Access) conflicts(b Access) bool {
	return a.Loc == b.Loc && (a.Mode == Write || b.Mode == Write || a.Mode != b.Mode)
}

// Dependent tells whether the order of two steps can matter.
func Dependent(a, b []Access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.conflicts(y) {
				return true
			}
		}
	}
	return false
}

// Action is a step that could run next.
type Action struct {
	Thread   string   // stable over schedules
	Outcomes []string // the ways it can end; the first is the ordinary one, the others are faults
	Rank     int      // the plain schedule prefers the lowest rank
	Glued    bool     // it belongs to the step before: nothing else can run between
	Idle     bool     // it is possible because nothing else is: time passes, and the step is a Barrier
}

// Choice is an action and its outcome.
type Choice struct {
	Thread  string
	Outcome int
}

// Step is what ran.
type Step struct {
	Choice
	Touched []Access
	Causes  []int  // earlier steps without which this one could not have run
	Slot    int    // the earlier step that freed the worker that this one took, or -1
	Barrier bool   // it could run because nothing else could: all steps before it come before, all after it after
	Digest  uint64 // what was asked and answered: the same choices must give the same digests
}

// Verdict is how a schedule ended.
type Verdict struct {
	Invariant string // "" if nothing was violated
	Detail    string
	Broken    bool // the model itself is at fault (not deterministic, blocked): no invariant was judged
	Cut       bool // the chooser stopped the schedule before its end
}

// Failed tells whether the schedule shows a violation.
func (v Verdict) Failed() bool { return v.Invariant != "" }

// Chooser picks the next step among those enabled, which are sorted and never empty, after those that ran. False ends
// the schedule.
type Chooser func(enabled []Action, ran []Step) (Choice, bool)

// Runner runs one schedule from the start and returns its steps.
type Runner func(choose Chooser) ([]Step, Verdict)
