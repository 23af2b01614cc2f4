package schedule

import "strings"

// SlotPrefix marks the locations of workers. Who takes a worker first is a race, although the second can only follow
// when the first is done.
const SlotPrefix = "slot|"

// bits is a set of step indexes.
type bits []uint64

func newBits(n int) bits      { return make(bits, (n+63)/64) }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) union(other bits) {
	for i := range other {
		b[i] |= other[i]
	}
}

// order is what must come before what in one run.
type order struct {
	steps  []Step
	before []bits  // before[j] holds every step that happens before j
	direct [][]int // direct[j] are the steps from which that follows
	free   []bits  // before[j], but for the wait for a worker
	slots  []int   // the last step before j that took the same worker, or -1
	races  [][]int // races[j] are the steps that j conflicts with
}

type touched struct {
	step int
	mode Mode
}

func newOrder(steps []Step) *order {
	o := &order{
		steps: steps, before: make([]bits, len(steps)), direct: make([][]int, len(steps)), free: make([]bits, len(steps)),
		slots: make([]int, len(steps)), races: make([][]int, len(steps)),
	}
	last := map[string]int{}
	locations := map[string][]touched{}
	barrier := -1
	for j, s := range steps {
		o.slots[j] = -1
		o.conflicts(j, locations)
		if i, ok := last[s.Thread]; ok {
			o.direct[j] = append(o.direct[j], i)
		}
		o.direct[j] = append(o.direct[j], s.Causes...)
		if barrier >= 0 {
			o.direct[j] = append(o.direct[j], barrier)
		}
		if s.Barrier {
			barrier = j
			o.direct[j], o.races[j] = allBefore(j), nil
		}
		o.close(j)
		last[s.Thread] = j
		for _, a := range s.Touched {
			locations[a.Loc] = append(locations[a.Loc], touched{j, a.Mode})
		}
	}
	return o
}

func allBefore(j int) []int {
	out := make([]int, j)
	for i := range out {
		out[i] = i
	}
	return out
}

func (o *order) conflicts(j int, locations map[string][]touched) {
	for _, a := range o.steps[j].Touched {
		for _, t := range locations[a.Loc] {
			if t.step == j || !(Access{a.Loc, t.mode}).conflicts(a) {
				continue
			}
			if strings.HasPrefix(a.Loc, SlotPrefix) {
				o.slots[j] = t.step
				continue
			}
			o.direct[j] = append(o.direct[j], t.step)
			if o.steps[t.step].Thread != o.steps[j].Thread && !o.steps[t.step].Barrier {
				o.races[j] = append(o.races[j], t.step)
			}
		}
	}
}

func (o *order) close(j int) {
	o.free[j] = newBits(len(o.steps))
	for _, i := range o.direct[j] {
		o.free[j].set(i)
		o.free[j].union(o.before[i])
	}
	o.before[j] = append(bits(nil), o.free[j]...)
	for _, i := range []int{o.slots[j], o.steps[j].Slot} {
		if i >= 0 && i < j {
			o.before[j].set(i)
			o.before[j].union(o.before[i])
		}
	}
}

// immediate tells whether i conflicts with j and nothing between orders them.
func (o *order) immediate(i, j int) bool {
	for _, cause := range o.steps[j].Causes {
		if cause == i {
			return false
		}
	}
	for _, k := range o.direct[j] {
		if k != i && o.before[k].has(i) {
			return false
		}
	}
	slot := o.steps[j].Slot
	return slot < 0 || slot == i || slot >= j || !o.before[slot].has(i)
}

// addRaces finds, for every step that is new in this run, the earlier steps that it could have come before, and makes
// the nodes there try it.
func (e *explorer) addRaces(steps []Step, from int) {
	o := newOrder(steps)
	for j := max(from, 0); j < len(steps); j++ {
		seen := newBits(len(steps))
		for _, i := range o.races[j] {
			if !seen.has(i) && o.immediate(i, j) {
				e.reverse(o, i, j)
			}
			seen.set(i)
		}
		if i := o.slots[j]; i >= 0 && !o.free[j].has(i) && steps[i].Thread != steps[j].Thread {
			e.reverse(o, i, j)
		}
	}
}

// reverse makes the node of step i try one of the threads that can start an order in which j comes before i.
func (e *explorer) reverse(o *order, i, j int) {
	if i >= len(e.stack) {
		return
	}
	for i > 0 && e.stack[i].enabled[0].Glued {
		i-- // what is glued to a step is reversed with it
	}
	n := e.stack[i]
	first := o.initials(i, j)
	candidate := ""
	for _, thread := range first {
		if _, sleeps := n.sleep[thread]; sleeps || n.backtrack[thread] {
			return
		}
		if n.has(thread) && (candidate == "" || thread == o.steps[j].Thread) {
			candidate = thread
		}
	}
	if candidate != "" {
		n.backtrack[candidate] = true
		return
	}
	// None of them can run there, as far as is known: try all.
	for _, a := range n.enabled {
		n.backtrack[a.Thread] = true
	}
}

// initials are the threads that can come first in the steps after i that do not follow from i, with j at their end.
func (o *order) initials(i, j int) []string {
	var out []string
	var rest []int
	seen := map[string]bool{}
	for k := i + 1; k <= j; k++ {
		before := o.before[k]
		if k == j {
			before = o.free[j]
		} else if before.has(i) {
			continue
		}
		independent := true
		for _, earlier := range rest {
			independent = independent && !before.has(earlier)
		}
		rest = append(rest, k)
		thread := o.steps[k].Thread
		if independent && !seen[thread] {
			out = append(out, thread)
		}
		seen[thread] = true
	}
	return out
}
