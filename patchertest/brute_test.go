package patchertest

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
)

var (
	firstModel = flag.Int("first-model", 1, "the number of the first random model that is compared with brute force")
	models     = flag.Int("models", 25, "how many random models are compared with brute force")
)

// bruteForce runs every order of all steps that are possible, with every outcome: a plain search that knows nothing of
// independence. It is what the reduction is held against. False means that there were more than limit.
func bruteForce(run schedule.Runner, limit int) (schedules int, failed map[string]bool, complete bool) {
	failed = map[string]bool{}
	var picks []int
	for schedules < limit {
		var widths []int
		steps, verdict := run(func(enabled []schedule.Action, _ []schedule.Step) (schedule.Choice, bool) {
			var all []schedule.Choice
			for _, a := range enabled {
				for outcome := range a.Outcomes {
					all = append(all, schedule.Choice{Thread: a.Thread, Outcome: outcome})
				}
			}
			at := len(widths)
			widths = append(widths, len(all))
			if at == len(picks) {
				picks = append(picks, 0)
			}
			return all[picks[at]], true
		})
		schedules++
		if verdict.Failed() {
			failed[verdict.Invariant] = true
		}
		at := len(steps) - 1
		for at >= 0 && picks[at]+1 == widths[at] {
			at--
		}
		if at < 0 {
			return schedules, failed, true
		}
		picks = append(slices.Clone(picks[:at]), picks[at]+1)
	}
	return schedules, failed, false
}

// newExplorer makes the explorer that Check would use.
func newExplorer(t *testing.T, build func() Model, opts ...Option) *explorer {
	e := &explorer{t: t, build: build, settings: defaults()}
	for _, opt := range opts {
		opt(&e.settings)
	}
	return e
}

// comparison is one random model, explored in both ways.
type comparison struct {
	name            string
	brute, reduced  int
	want, got       map[string]bool // final states
	wantBad, gotBad map[string]bool // invariants that failed
}

func (c *comparison) difference() string {
	var out []string
	for _, set := range []struct {
		what      string
		want, got map[string]bool
	}{{"state", c.want, c.got}, {"failure", c.wantBad, c.gotBad}} {
		for _, key := range slices.Sorted(maps.Keys(set.want)) {
			if !set.got[key] {
				out = append(out, fmt.Sprintf("missed %s %s", set.what, key))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(set.got)) {
			if !set.want[key] {
				out = append(out, fmt.Sprintf("%s that brute force does not reach: %s", set.what, key))
			}
		}
	}
	return strings.Join(out, "\n")
}

// bruteLimit keeps random models small: larger ones are passed over, most of them by a guess of their size.
const bruteLimit = 1000

// guessedSize guesses how many schedules there are, from the choices along a few random ones (Knuth, 1975).
func guessedSize(run schedule.Runner, rng *rand.Rand) float64 {
	const probes = 4
	sum := 0.0
	for range probes {
		product := 1.0
		run(func(enabled []schedule.Action, _ []schedule.Step) (schedule.Choice, bool) {
			var all []schedule.Choice
			for _, a := range enabled {
				for outcome := range a.Outcomes {
					all = append(all, schedule.Choice{Thread: a.Thread, Outcome: outcome})
				}
			}
			product *= float64(len(all))
			return all[rng.IntN(len(all))], true
		})
		sum += product
	}
	return sum / probes
}

// compareModel explores a random model by brute force and with the reduction. False means that there are more schedules than limit.
// Spoil changes what the reduction sees of each step.
func compareModel(t *testing.T, number, limit int, spoil func(*schedule.Step)) (*comparison, bool) {
	m := randomModel(number)
	c := &comparison{name: m.String(), want: map[string]bool{}, got: map[string]bool{}, gotBad: map[string]bool{}}
	e := newExplorer(t, m.build(c.want), m.options()...)
	if guessedSize(e.run, rand.New(rand.NewPCG(uint64(number), 7))) > 2*float64(limit) {
		return c, false
	}
	clear(c.want)
	complete := false
	c.brute, c.wantBad, complete = bruteForce(e.run, limit)
	if !complete {
		return c, false
	}
	for _, ordered := range []bool{false, true} {
		clear(c.got)
		clear(c.gotBad)
		e = newExplorer(t, m.build(c.got), m.options()...)
		e.ordered = ordered
		result := schedule.Explore(func(choose schedule.Chooser) ([]schedule.Step, schedule.Verdict) {
			steps, verdict := e.run(choose)
			if verdict.Failed() {
				c.gotBad[verdict.Invariant] = true
			}
			for i := range steps {
				if spoil != nil {
					spoil(&steps[i])
				}
			}
			return steps, verdict
		}, schedule.Limits{Grace: 1 << 30}, true)
		if !result.Exhaustive {
			t.Fatalf("model %d: expected the exploration to end, found %+v\n%s", number, result, c.name)
		}
		c.reduced = result.Schedules
		if !e.ordersSeen {
			break
		}
	}
	return c, true
}

// TestBruteForce: over random models, the reduction reaches the states and the failures that brute force reaches, and no others.
func TestBruteForce(t *testing.T) {
	start := time.Now()
	brute, reduced, states, compared, differences, passedOver := 0, 0, 0, 0, 0, 0
	for number := *firstModel; compared < *models; number++ {
		c, small := compareModel(t, number, bruteLimit, nil)
		if !small {
			passedOver++
			continue
		}
		compared++
		brute, reduced, states = brute+c.brute, reduced+c.reduced, states+len(c.want)
		if diff := c.difference(); diff != "" {
			differences++
			t.Errorf("model %d, %d schedules, reduced to %d:\n%s\n%s", number, c.brute, c.reduced, c.name, diff)
		}
		if differences > 5 {
			t.Fatal("too many differences")
		}
	}
	t.Logf("models %d to %d: %d schedules, reduced to %d, %d final states, %d differences; %d models were too large; %s",
		*firstModel, *firstModel+compared+passedOver-1, brute, reduced, states, differences, passedOver, time.Since(start).Round(time.Second))
}

// TestBruteForceNoticesAWrongIndependence is the negative control: a reduction that is not told of one kind of access misses states.
func TestBruteForceNoticesAWrongIndependence(t *testing.T) {
	for _, row := range []struct {
		model  int // a model in which it is noticed: found by trying one after the other
		hidden []string
	}{{21, []string{"object|", "cache|", "events|"}}, {70, []string{"queue|"}}, {33, []string{"outside"}}} {
		if c, small := compareModel(t, row.model, bruteLimit, nil); !small || c.difference() != "" {
			t.Errorf("model %d: expected no difference without the fault, found %s", row.model, c.difference())
		}
		c, small := compareModel(t, row.model, bruteLimit, func(s *schedule.Step) {
			s.Touched = slices.DeleteFunc(slices.Clone(s.Touched), func(a schedule.Access) bool {
				return slices.ContainsFunc(row.hidden, func(prefix string) bool { return strings.HasPrefix(a.Loc, prefix) })
			})
		})
		if !small || !strings.Contains(c.difference(), "missed state") {
			t.Errorf("model %d: expected a reduction without accesses of %q to miss a state, found %q", row.model, row.hidden, c.difference())
		}
	}
}
