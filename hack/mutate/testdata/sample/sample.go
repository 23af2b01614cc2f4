// Package sample has mutants whose fate is known.
package sample

import "errors"

var errNegative = errors.New("negative")

// Larger is tested well: each mutant of it is killed.
func Larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// Grade is tested far from its bound.
func Grade(points int) string {
	if points >= 50 {
		return "passed"
	}
	return "failed"
}

// Checked is tested without an error.
func Checked(n int) (int, error) {
	if n < -1 {
		return n, errNegative
	}
	return n, nil
}

// Forever ends unless its step is deleted.
func Forever(n int) (steps int) {
	for n > 0 {
		n--
		steps += 1
	}
	return steps
}

// Unused is not tested.
func Unused(ok, too bool) bool { return ok && too }
