package main

// A verdict is what the tests say of a mutant.
type verdict int

const (
	unreached verdict = iota
	survived
	killed
	timedOut
	untried
)

func (v verdict) String() string {
	return [...]string{"not reached", "survived", "killed", "timed out", "not tried"}[v]
}

func (v verdict) isAlive() bool { return v == unreached || v == survived }

// worse joins the verdicts of two stages: a mutant that one of them reached was reached.
func worse(a, b verdict) verdict { return max(a, b) }
