package patchertest

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

var replay = flag.String("patchertest.replay", "", "run only the schedule of this token, from the report of an earlier failure; choose the test with -run")

var shard = flag.String("patchertest.shard", "", "explore only one part of several, such as 2/8; the parts together are the whole")

// Explore runs the model in every schedule that the options allow, and fails the test with the report of a
// counterexample if an invariant is violated, or if the model is at fault. What was explored is logged. With the flag
// -patchertest.replay=TOKEN it runs the schedule of that token alone. build is called for every schedule, and must make the same
// model each time.
func Explore(t *testing.T, build func() Model, opts ...Option) {
	t.Helper()
	report := Check(t, build, opts...)
	if report.Violation != nil {
		t.Fatal(report.String())
	}
	t.Log(report.String())
}

// Check does what Explore does, and returns the report instead of failing: its Violation is nil if every invariant held.
func Check(t *testing.T, build func() Model, opts ...Option) *Report {
	t.Helper()
	e := &explorer{t: t, build: build, settings: defaults()}
	for _, opt := range opts {
		opt(&e.settings)
	}
	if *replay != "" {
		return e.replay(*replay)
	}
	part, err := parseShard(*shard)
	if err != nil {
		t.Fatal(err)
	}
	e.part = part
	return e.explore()
}

// parseShard reads the flag -patchertest.shard.
func parseShard(text string) (schedule.Shard, error) {
	var part schedule.Shard
	if text == "" {
		return part, nil
	}
	index, count, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err != nil || err2 != nil || i < 1 || i > n {
		return part, fmt.Errorf("-patchertest.shard=%s: expected a part and the number of parts, such as 2/8", text)
	}
	return schedule.Shard{Index: i, Count: n}, nil
}

// Replay runs the one schedule of a token, with the options that it was found with, and returns its report. A token that is none,
// or of another model, is a Violation that is Broken.
func Replay(t *testing.T, token string, build func() Model, opts ...Option) *Report {
	t.Helper()
	e := &explorer{t: t, build: build, settings: defaults()}
	for _, opt := range opts {
		opt(&e.settings)
	}
	return e.replay(token)
}

// explorer is one call of Explore.
type explorer struct {
	settings
	t     *testing.T
	build func() Model

	catalog *sim.Catalog
	clients world.Pool
	crds    []*apiextensionsv1.CustomResourceDefinition

	kinds      kinds     // generated kinds that the controllers use
	deadline   time.Time // the end of the budget
	part       schedule.Shard
	tallies    map[string]world.Tally // of each controller, over all schedules
	ordersSeen bool                   // some schedule depended on the order of writes to different objects
}

// livelock is the violation that the world itself finds.
const livelock = "livelock"

// graceSteps are run after the first failure, to tell how rare failures are.
const graceSteps = 20_000

// shrinkSteps bound the search for a shorter counterexample.
const shrinkSteps = 20_000

func (e *explorer) explore() *Report {
	report := &Report{settings: e.settings, part: e.part}
	e.deadline = time.Now().Add(e.budget)
	if raceDetector {
		if err := e.runFreely(); err != nil {
			report.Violation = &Violation{Invariant: "model", Detail: err.Error(), Broken: true}
			return report
		}
	}
	result := e.search()
	if e.ordersSeen && !e.ordered && (result.First == nil || !result.First.Verdict.Broken) {
		// The reduction took writes of different objects as independent, and they are not in this model.
		e.ordered = true
		result = e.search()
	}
	report.Schedules, report.Exhaustive, report.failing = result.Schedules, result.Exhaustive, result.Failing
	if result.First != nil {
		e.explain(report, *result.First)
	} else if v := e.judgeTallies(); v != nil {
		report.Violation, report.failing = v, result.Schedules
	}
	return report
}

// freeRuns let reconciles run at once, for the race detector.
const freeRuns = 20

// runFreely shows the race detector the model with its reconciles at once. What it finds fails the test by itself.
func (e *explorer) runFreely() error {
	ctx, cancel := context.WithTimeout(e.t.Context(), e.watchdog)
	defer cancel()
	for range freeRuns {
		m := e.build()
		cfg, err := e.compile(&m)
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- world.FreeRun(ctx, cfg, 3) }()
		select {
		case err := <-ended:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return nil // a model that hangs is named by the exploration
		}
	}
	return nil
}

// search tries all orders first; over budget, few departures from the plain schedule, then random ones.
func (e *explorer) search() schedule.Result {
	limits := schedule.Limits{Schedules: e.maxSchedules, Grace: graceSteps, Shard: e.part, Stop: e.over(e.budget / 4)}
	result := schedule.Explore(e.run, limits, e.reduce)
	if result.Exhaustive || result.First != nil {
		return result
	}
	limits.Stop = e.over(0)
	total := result.Schedules
	for bound := 1; bound <= 2 && result.First == nil; bound++ {
		limits.Schedules = e.samples
		result = schedule.Departures(e.run, limits, bound)
		total += result.Schedules
	}
	if result.First == nil {
		limits.Schedules = e.samples
		result = schedule.Random(e.run, limits, e.seed+uint64(e.part.Index))
		total += result.Schedules
	}
	result.Schedules, result.Exhaustive = total, false
	return result
}

// over reports whether the budget is used up but for a reserve.
func (e *explorer) over(reserve time.Duration) func() bool {
	end := e.deadline.Add(-reserve)
	return func() bool { return time.Now().After(end) }
}

// explain shrinks a failing schedule, holds that it fails again the same way, and writes its steps down.
func (e *explorer) explain(report *Report, found schedule.Failure) {
	if found.Verdict.Broken {
		report.Violation = &Violation{Invariant: found.Verdict.Invariant, Detail: found.Verdict.Detail, Broken: true}
		return
	}
	if _, verdict := e.run(schedule.Follow(found.Choices)); verdict != found.Verdict {
		report.Violation = notRepeated(found.Verdict, verdict)
		return
	}
	if found.Verdict.Invariant != livelock { // which is as long as it is
		found = schedule.Shrink(e.run, found, shrinkSteps, e.over(-e.budget/20))
	}
	token := schedule.Encode(e.run, found.Choices)
	recorded := e.record(schedule.Follow(found.Choices))
	report.Violation = e.violation(recorded, token)
}

func notRepeated(first, second schedule.Verdict) *Violation {
	return &Violation{Invariant: "deterministic", Broken: true, Detail: fmt.Sprintf(
		"one schedule, run twice, ended differently: first %s, then %s; look for maps that are ranged over, clocks, random numbers or goroutines that the model does not control",
		ending(first), ending(second))}
}

func ending(v schedule.Verdict) string {
	if !v.Failed() {
		return "well"
	}
	return "in " + v.Invariant + " (" + v.Detail + ")"
}

func (e *explorer) replay(token string) *Report {
	report := &Report{settings: e.settings, Schedules: 1, replayed: true}
	choose, err := schedule.Decode(token)
	if err != nil {
		report.Violation = &Violation{Invariant: "replay", Detail: err.Error(), Broken: true}
		return report
	}
	recorded := e.record(choose)
	if recorded.violation != nil || recorded.stuck != "" {
		report.failing = 1
		report.Violation = e.violation(recorded, token)
	}
	return report
}
