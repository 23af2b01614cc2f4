package schedule

import (
	"math/rand/v2"
	"slices"
)

// Departures runs every schedule that departs from the plain one at most bound times: the plain schedule goes on with
// one thread as long as it can, so a departure is a preemption, a late delivery, or a fault.
func Departures(run Runner, limits Limits, bound int) Result {
	var result Result
	var picks []int // of the schedule so far; 0 is the plain choice
	for {
		if limits.Schedules > 0 && result.Schedules >= limits.Schedules || limits.Stop != nil && limits.Stop() {
			return result
		}
		fixed, widths := picks, []int{} // how many choices there were at each step
		picks = slices.Clone(fixed)
		steps, verdict := run(func(enabled []Action, ran []Step) (Choice, bool) {
			at := len(widths)
			order := choices(enabled, ran)
			widths = append(widths, len(order))
			if at >= len(fixed) {
				picks = append(picks, 0)
			}
			return order[picks[at]], true
		})
		result.Schedules++
		if verdict.Failed() {
			result.Failing++
			result.First = &Failure{Choices: Choices(steps), Verdict: verdict}
			return result
		}
		if picks = nextPicks(picks[:len(widths)], widths, bound); picks == nil {
			result.Exhaustive = true
			return result
		}
	}
}

// nextPicks moves the last pick on that the bound lets depart. Nil: none is left.
func nextPicks(picks, widths []int, bound int) []int {
	departures := 0
	for _, pick := range picks {
		departures += min(pick, 1)
	}
	for at := len(picks) - 1; at >= 0; at-- {
		departures -= min(picks[at], 1)
		if picks[at]+1 < widths[at] && departures < bound {
			return append(slices.Clone(picks[:at]), picks[at]+1)
		}
	}
	return nil
}

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
