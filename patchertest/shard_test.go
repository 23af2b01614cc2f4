package patchertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
)

// TestShardsAreTheWhole: the shards of a model reach together what the whole model reaches.
func TestShardsAreTheWhole(t *testing.T) {
	const count = 3
	compared, divided := 0, 0
	for number := 1; compared < 6; number++ {
		m := randomModel(number)
		explore := func(part schedule.Shard) map[string]bool {
			states := map[string]bool{}
			e := newExplorer(t, m.build(states), m.options()...)
			e.part = part
			if r := e.explore(); r.Violation != nil || !r.Exhaustive {
				t.Fatalf("model %d, shard %v: expected the shard to be explored, found %s", number, part, r)
			}
			return states
		}
		whole := newExplorer(t, m.build(map[string]bool{}), append(m.options(), MaxSchedules(400), Samples(1))...).explore()
		if !whole.Exhaustive || whole.Schedules < 10 {
			continue
		}
		compared++
		want, got := explore(schedule.Shard{}), map[string]bool{}
		for index := 1; index <= count; index++ {
			states := explore(schedule.Shard{Index: index, Count: count})
			if len(states) < len(want) {
				divided++
			}
			maps.Copy(got, states)
		}
		if !maps.Equal(want, got) {
			t.Errorf("model %d %s: expected the shards to reach\n%s\nfound\n%s", number, m,
				strings.Join(slices.Sorted(maps.Keys(want)), "\n"), strings.Join(slices.Sorted(maps.Keys(got)), "\n"))
		}
	}
	// The negative control: a shard alone is not the whole.
	if divided == 0 {
		t.Error("expected a shard to reach less than the whole, found none")
	}
}

func TestShardFlag(t *testing.T) {
	if part, err := parseShard("2/8"); err != nil || part != (schedule.Shard{Index: 2, Count: 8}) {
		t.Errorf("expected part 2 of 8, found %v, %v", part, err)
	}
	if part, err := parseShard(""); err != nil || part != (schedule.Shard{}) {
		t.Errorf("expected the whole, found %v, %v", part, err)
	}
	for _, text := range []string{"2", "0/8", "9/8", "a/b", "1/8/2"} {
		if _, err := parseShard(text); err == nil || !strings.Contains(err.Error(), "2/8") {
			t.Errorf("%q: expected an error that shows the form, found %v", text, err)
		}
	}
}

// TestBudgetIsKept: an exploration that does not end takes its budget, and no more than a tenth above.
func TestBudgetIsKept(t *testing.T) {
	m := &random{keys: 2, replicas: 2, stale: true, crashes: 1, timeouts: 1, early: 1, operations: []string{"count locked", "call if none", "plan"}, foreign: []string{"edit spec", "edit status"}}
	const budget = 3 * time.Second
	start := time.Now()
	r := newExplorer(t, m.build(map[string]bool{}), append(m.options(), Budget(budget), Samples(1<<30))...).explore()
	took := time.Since(start)
	if r.Exhaustive || r.Schedules == 0 {
		t.Errorf("expected the model to be too large for its budget, found %s", r)
	}
	if took > budget+budget/10 {
		t.Errorf("expected at most %s, found %s", budget+budget/10, took)
	}
	if !strings.Contains(fmt.Sprint(r), "sampled") {
		t.Errorf("expected a report of a sample, found %s", r)
	}
}
