package schedule

// Shrink looks for a schedule that violates the same invariant with fewer faults, fewer switches and fewer steps, in at
// most budget steps, until stop says so.
func Shrink(run Runner, found Failure, budget int, stop func() bool) Failure {
	s := &shrinker{run: run, best: found, budget: budget, stop: stop}
	s.cost = costOf(found.Choices)
	for improved := true; improved && s.budget > 0; {
		improved = s.withoutFaults()
		improved = s.withoutChunks() || improved
		improved = s.swapped() || improved
	}
	return s.best
}

type shrinker struct {
	run    Runner
	best   Failure
	cost   cost
	budget int
	stop   func() bool // or nil
}

type cost struct{ faults, switches, steps int }

func (c cost) less(d cost) bool {
	if c.faults != d.faults {
		return c.faults < d.faults
	}
	if c.switches != d.switches {
		return c.switches < d.switches
	}
	return c.steps < d.steps
}

func costOf(choices []Choice) cost {
	c := cost{steps: len(choices)}
	for i, choice := range choices {
		if choice.Outcome != 0 {
			c.faults++
		}
		if i > 0 && choice.Thread != choices[i-1].Thread {
			c.switches++
		}
	}
	return c
}

// try runs a wish: its choices in order, those that are not possible passed over, then the plain schedule.
func (s *shrinker) try(wish []Choice) bool {
	if s.stop != nil && s.stop() {
		s.budget = 0
	}
	if s.budget <= 0 {
		return false
	}
	steps, verdict := s.run(Follow(wish))
	s.budget -= len(steps) + 1
	if !verdict.Failed() || verdict.Invariant != s.best.Verdict.Invariant {
		return false
	}
	if c := costOf(Choices(steps)); c.less(s.cost) {
		s.best, s.cost = Failure{Choices: Choices(steps), Verdict: verdict}, c
		return true
	}
	return false
}

// Follow takes the choices in order, passes over those that are not possible, and ends with the plain schedule.
func Follow(wish []Choice) Chooser {
	next := 0
	return func(enabled []Action, ran []Step) (Choice, bool) {
		for ; next < len(wish); next++ {
			for _, a := range enabled {
				if a.Thread == wish[next].Thread {
					choice := wish[next]
					if choice.Outcome >= len(a.Outcomes) {
						choice.Outcome = 0
					}
					next++
					return choice, true
				}
			}
		}
		first, _ := plain(enabled, ran)
		return Choice{Thread: enabled[first].Thread}, true
	}
}

func (s *shrinker) withoutFaults() bool {
	improved := false
	for i := 0; i < len(s.best.Choices); i++ {
		if s.best.Choices[i].Outcome == 0 {
			continue
		}
		wish := append([]Choice{}, s.best.Choices...)
		wish[i].Outcome = 0
		improved = s.try(wish) || improved
	}
	return improved
}

// withoutChunks leaves out choices, large chunks first.
func (s *shrinker) withoutChunks() bool {
	improved := false
	for size := len(s.best.Choices) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(s.best.Choices) && s.budget > 0; {
			wish := append(append([]Choice{}, s.best.Choices[:at]...), s.best.Choices[at+size:]...)
			if s.try(wish) {
				improved = true
			} else {
				at += size
			}
		}
	}
	return improved
}

// swapped exchanges neighbouring blocks of different threads, which joins blocks of one thread.
func (s *shrinker) swapped() bool {
	improved := false
	for at := 0; s.budget > 0; at++ {
		blocks := blocksOf(s.best.Choices)
		if at+1 >= len(blocks) {
			return improved
		}
		blocks[at], blocks[at+1] = blocks[at+1], blocks[at]
		var wish []Choice
		for _, b := range blocks {
			wish = append(wish, b...)
		}
		improved = s.try(wish) || improved
	}
	return improved
}

func blocksOf(choices []Choice) [][]Choice {
	var out [][]Choice
	for i, c := range choices {
		if i == 0 || c.Thread != choices[i-1].Thread {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}
