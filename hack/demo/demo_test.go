package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	t.Chdir("..") // as make runs it
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"plans minted", "updates lost", "conflicts", "requests", "reconciles to converge", "time stuck"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no row %q in\n%s", row, &out)
		}
	}
}

// The demonstration fails rather than print a table that shows nothing, or a loss of the generated patcher.
func TestVerdict(t *testing.T) {
	lossy, clean := &score{erased: losses{plans: 1}}, &score{converged: true}
	for _, row := range []struct {
		name                   string
		before, wrapped, after *score
		ok                     bool
	}{
		{"losses before, none after", lossy, clean, clean, true},
		{"no contention", clean, clean, clean, false},
		{"a loss behind the wrapped client", lossy, lossy, clean, false},
		{"a loss after", lossy, clean, &score{erased: losses{conditions: 1}, converged: true}, false},
		{"no convergence after", lossy, clean, &score{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := verdict(row.before, row.wrapped, row.after); (err == nil) != row.ok {
				t.Errorf("verdict: %v", err)
			}
		})
	}
}
