package world

import "github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"

// manyCalls and maxCalls bound what one reconcile asks: from manyCalls on the schedule is fair, and more than maxCalls are a livelock.
const (
	manyCalls = 200
	maxCalls  = 2000
)

// fair keeps a delivery from being late for ever, which would look like a livelock: in a schedule with very many reconciles, what has
// waited longest comes next. Until then every order is possible.
func (w *World) fair(actions []schedule.Action) []schedule.Action {
	if w.reconciles <= w.cfg.MaxReconciles/2 && !w.manyCalls() || len(actions) == 0 {
		w.waiting = nil
		return actions
	}
	since := map[string]int{}
	oldest := -1
	for i, a := range actions {
		known, ok := w.waiting[a.Thread]
		if !ok || len(w.steps) > 0 && w.steps[len(w.steps)-1].Thread == a.Thread {
			known = len(w.steps)
		}
		since[a.Thread] = known
		if a.Rank != rankTimer && (oldest < 0 || known < since[actions[oldest].Thread]) {
			oldest = i
		}
	}
	w.waiting = since
	if oldest < 0 {
		return actions
	}
	return actions[oldest : oldest+1]
}

func (w *World) manyCalls() bool {
	for _, p := range w.processes {
		for _, c := range p.controllers {
			if c.running != nil && c.running.calls > manyCalls {
				return true
			}
		}
	}
	return false
}
