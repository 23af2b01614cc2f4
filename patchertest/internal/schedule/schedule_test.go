package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// program is a toy: threads of reads, writes and additions on a few locations. What a run comes to is what every read saw.
type program [][]operation

type operation struct {
	loc      string
	mode     Mode
	outcomes int
}

func randomProgram(rng *rand.Rand) program {
	p := make(program, 2+rng.IntN(2))
	for i := range p {
		for range 1 + rng.IntN(3) {
			p[i] = append(p[i], operation{loc: string(rune('a' + rng.IntN(2))), mode: Mode(rng.IntN(3)), outcomes: 1 + rng.IntN(5)/4})
		}
	}
	return p
}

// run returns a runner, and where it notes what each complete run came to. A second outcome does nothing.
func (p program) run(results map[string]bool, fails func(string) bool) Runner {
	return func(choose Chooser) ([]Step, Verdict) {
		next := make([]int, len(p))
		memory := map[string][]string{}
		seen := make([]string, len(p))
		var steps []Step
		for {
			var enabled []Action
			for t, at := range next {
				if at < len(p[t]) {
					op := p[t][at]
					enabled = append(enabled, Action{Thread: fmt.Sprint("t", t), Outcomes: make([]string, op.outcomes)})
				}
			}
			if len(enabled) == 0 {
				break
			}
			choice, ok := choose(enabled, steps)
			if !ok {
				return steps, Verdict{Cut: true}
			}
			t := int(choice.Thread[1] - '0')
			op := p[t][next[t]]
			next[t]++
			step := Step{Choice: choice, Slot: -1}
			if choice.Outcome == 0 {
				step.Touched = []Access{{op.loc, op.mode}}
				op.apply(t, next[t], memory, seen)
			} else {
				seen[t] += "!"
			}
			steps = append(steps, step)
		}
		result := fmt.Sprint(seen, memory)
		results[result] = true
		if fails(result) {
			return steps, Verdict{Invariant: "toy", Detail: result}
		}
		return steps, Verdict{}
	}
}

func (op operation) apply(t, at int, memory map[string][]string, seen []string) {
	value := fmt.Sprintf("%d.%d", t, at)
	switch op.mode {
	case Read:
		seen[t] += fmt.Sprint(memory[op.loc])
	case Write:
		memory[op.loc] = append(slices.Clone(memory[op.loc]), value)
	case Add: // a set: additions commute
		memory["+"+op.loc] = append(slices.Clone(memory["+"+op.loc]), value)
		sort.Strings(memory["+"+op.loc])
		var set []string
		for _, v := range memory[op.loc] {
			if !strings.HasPrefix(v, "+") {
				set = append(set, v)
			}
		}
		memory[op.loc] = append(set, fmt.Sprint("+", memory["+"+op.loc]))
	}
}

func never(string) bool { return false }

// TestReductionReachesEveryResult: over random programs, the reduction reaches what all orders reach.
func TestReductionReachesEveryResult(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all, reduced := 0, 0
	for i := range 150 {
		p := randomProgram(rng)
		want, got := map[string]bool{}, map[string]bool{}
		full := Explore(p.run(want, never), Limits{}, false)
		some := Explore(p.run(got, never), Limits{}, true)
		if !full.Exhaustive || !some.Exhaustive || fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("program %d %v: expected %d results, found %d", i, p, len(want), len(got))
		}
		all, reduced = all+full.Schedules, reduced+some.Schedules
	}
	if all < 3*reduced {
		t.Errorf("expected a reduction of %d schedules, found %d", all, reduced)
	}
	t.Logf("%d schedules, reduced to %d", all, reduced)
}

// TestControlOfTheReduction: steps that claim to touch nothing are taken as independent, and then results are missed.
func TestControlOfTheReduction(t *testing.T) {
	p := program{{{"a", Write, 1}}, {{"a", Write, 1}}}
	want, got := map[string]bool{}, map[string]bool{}
	Explore(p.run(want, never), Limits{}, false)
	liar := p.run(got, never)
	Explore(func(choose Chooser) ([]Step, Verdict) {
		steps, verdict := liar(choose)
		for i := range steps {
			steps[i].Touched = nil
		}
		return steps, verdict
	}, Limits{}, true)
	if len(got) >= len(want) {
		t.Errorf("expected the lie to hide one of %d results, found %d", len(want), len(got))
	}
}

// TestEveryFailureReplays: each failing schedule, shrunk or not, ends the same way from its token.
func TestEveryFailureReplays(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		p := randomProgram(rng)
		results := map[string]bool{}
		Explore(p.run(results, never), Limits{}, true)
		for bad := range results {
			run := p.run(map[string]bool{}, func(result string) bool { return result == bad })
			found := Explore(run, Limits{}, true)
			if found.First == nil {
				t.Fatalf("program %v: expected %s to be reached again", p, bad)
			}
			small := Shrink(run, *found.First, 1000, nil)
			for _, failure := range []Failure{*found.First, small} {
				choose, err := Decode(Encode(run, failure.Choices))
				if err != nil {
					t.Fatal(err)
				}
				steps, verdict := run(choose)
				if verdict != failure.Verdict || !slices.Equal(Choices(steps), failure.Choices) {
					t.Fatalf("program %v: expected %v, found %v %v", p, failure, verdict, Choices(steps))
				}
			}
			if costOf(found.First.Choices).less(costOf(small.Choices)) {
				t.Errorf("expected shrinking never to make a schedule longer, found %v from %v", small.Choices, found.First.Choices)
			}
		}
	}
}

func TestTokensThatAreNone(t *testing.T) {
	for _, token := range []string{"", "v9-AgE", "v1-***", "v1-Ag"} {
		if _, err := Decode(token); err == nil {
			t.Errorf("token %q: expected an error, found none", token)
		}
	}
}

// TestDepartures: with a bound as large as the schedule, every order is run; with none, the plain one.
func TestDepartures(t *testing.T) {
	p := program{{{"a", Write, 1}, {"b", Read, 1}}, {{"a", Write, 1}, {"b", Write, 1}}}
	for bound, want := range map[int]int{0: 1, 4: 6} {
		results := map[string]bool{}
		if r := Departures(p.run(results, never), Limits{}, bound); r.Schedules != want || !r.Exhaustive {
			t.Errorf("bound %d: expected %d schedules, found %+v", bound, want, r)
		}
	}
}

func TestNotDeterministic(t *testing.T) {
	runs := 0
	p := program{{{"a", Write, 1}}, {{"a", Write, 1}}}
	run := p.run(map[string]bool{}, never)
	r := Explore(func(choose Chooser) ([]Step, Verdict) {
		runs++
		steps, verdict := run(func(enabled []Action, ran []Step) (Choice, bool) {
			if runs > 1 {
				enabled = enabled[:1]
			}
			return choose(enabled, ran)
		})
		return steps, verdict
	}, Limits{}, false)
	if r.First == nil || !r.First.Verdict.Broken || r.First.Verdict.Invariant != "deterministic" {
		t.Errorf("expected the model to be named as not deterministic, found %+v", r)
	}
}

// TestShards: the shards together reach what the whole reaches, and no shard is the whole.
func TestShards(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	divided := 0
	for i := range 60 {
		p := append(randomProgram(rng), randomProgram(rng)[0])
		want, got := map[string]bool{}, map[string]bool{}
		Explore(p.run(want, never), Limits{}, true)
		const count = 4
		for index := 1; index <= count; index++ {
			one := map[string]bool{}
			r := Explore(p.run(one, never), Limits{Shard: Shard{Index: index, Count: count}}, true)
			if !r.Exhaustive {
				t.Fatalf("program %d %v, shard %d: expected the whole shard to be explored, found %+v", i, p, index, r)
			}
			for result := range one {
				got[result] = true
			}
			if len(one) < len(want) {
				divided++
			}
		}
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("program %d %v: expected the shards to reach %d results together, found %d", i, p, len(want), len(got))
		}
	}
	// The negative control: without one shard something is missing somewhere.
	if divided == 0 {
		t.Errorf("expected shards that reach less than the whole, found none")
	}
}
