package schedule

import "math/rand/v2"

// Departures runs every schedule that departs from the plain one at most bound times: the plain schedule goes on with
// one thread as long as it can, so a departure is a preemption, a late delivery, or a fault.
func Departures(run Runner, limits Limits, bound int) Result {
	var result Result
	path := []departure{} // the departures of the current schedule, and where the search goes on
	for {
		if limits.Schedules > 0 && result.Schedules >= limits.Schedules || limits.Stop != nil && limits.Stop() {
			return result
		}
		var widths []int // how many choices there were at each step
		depth := 0
		steps, verdict := run(func(enabled []Action, ran []Step) (Choice, bool) {
			order := choices(enabled, ran)
			widths = append(widths, len(order))
			pick := 0
			for _, d := range path {
				if d.step == depth {
					pick = min(d.pick, len(order)-1)
				}
			}
			depth++
			return order[pick], true
		})
		result.Schedules++
		if verdict.Failed() {
			result.Failing++
			result.First = &Failure{Choices: Choices(steps), Verdict: verdict}
			return result
		}
		if path = nextDepartures(path, widths, bound); path == nil {
			result.Exhaustive = true
			return result
		}
	}
}

type departure struct{ step, pick int }

// choices lists every action and outcome, that of the plain schedule first.
func choices(enabled []Action, ran []Step) []Choice {
	first, _ := plain(enabled, ran)
	out := []Choice{{Thread: enabled[first].Thread}}
	for i, a := range enabled {
		for outcome := range a.Outcomes {
			if i != first || outcome != 0 {
				out = append(out, Choice{Thread: a.Thread, Outcome: outcome})
			}
		}
	}
	return out
}

// nextDepartures adds a departure after the last one while the bound allows, else moves the last one on. Nil: none is left.
func nextDepartures(path []departure, widths []int, bound int) []departure {
	after := -1
	if len(path) > 0 {
		after = path[len(path)-1].step
	}
	if len(path) < bound {
		for step := after + 1; step < len(widths); step++ {
			if widths[step] > 1 {
				return append(append([]departure{}, path...), departure{step, 1})
			}
		}
	}
	for len(path) > 0 {
		last := path[len(path)-1]
		path = append([]departure{}, path[:len(path)-1]...)
		if last.step < len(widths) && last.pick+1 < widths[last.step] {
			return append(path, departure{last.step, last.pick + 1})
		}
		for step := last.step + 1; step < len(widths); step++ {
			if widths[step] > 1 {
				return append(path, departure{step, 1})
			}
		}
	}
	return nil
}

// Random runs schedules in which each thread has a random priority that changes a few times (probabilistic concurrency
// testing, Burckhardt and others, 2010). A seed gives the same schedules always.
func Random(run Runner, limits Limits, seed uint64) Result {
	var result Result
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	length := 40
	for limits.Schedules <= 0 || result.Schedules < limits.Schedules {
		if limits.Stop != nil && limits.Stop() {
			break
		}
		steps, verdict := run(randomChooser(rng, length))
		length = max(length, len(steps))
		result.Schedules++
		if verdict.Failed() {
			result.Failing++
			result.First = &Failure{Choices: Choices(steps), Verdict: verdict}
			break
		}
	}
	return result
}

func randomChooser(rng *rand.Rand, length int) Chooser {
	priority := map[string]float64{}
	change := map[int]bool{rng.IntN(length): true, rng.IntN(length): true, rng.IntN(length): true}
	return func(enabled []Action, ran []Step) (Choice, bool) {
		best := -1
		for i, a := range enabled {
			if _, ok := priority[a.Thread]; !ok {
				priority[a.Thread] = 1 + rng.Float64()
			}
			if best < 0 || priority[a.Thread] > priority[enabled[best].Thread] {
				best = i
			}
		}
		a := enabled[best]
		if change[len(ran)] {
			priority[a.Thread] = rng.Float64()
		}
		outcome := 0
		if len(a.Outcomes) > 1 && rng.IntN(8) == 0 {
			outcome = rng.IntN(len(a.Outcomes))
		}
		return Choice{Thread: a.Thread, Outcome: outcome}, true
	}
}
