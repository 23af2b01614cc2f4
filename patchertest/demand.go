package patchertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
)

// reconcilesSucceed is demanded of every model: a controller whose reconciles all fail shows nothing.
const reconcilesSucceed = "ReconcilesSucceed"

// Without switches off demands that are on by default, by the names under which reports show them.
func Without(names ...string) Option {
	return func(s *settings) { s.without = append(s.without, names...) }
}

func (s *settings) demands(name string) bool { return !slices.Contains(s.without, name) }

// checkDemands refuses names that do not exist, and a model of which nothing is demanded.
func (e *explorer) checkDemands(m *Model) error {
	for _, name := range e.without {
		if !slices.Contains(demandNames(), name) {
			return fmt.Errorf("Without(%q): expected one of %s", name, strings.Join(demandNames(), ", "))
		}
	}
	if len(m.Invariants) == 0 && !slices.ContainsFunc(demandNames(), e.demands) {
		return fmt.Errorf("expected Invariants, found none, and every demand is switched off: the model would hold whatever it does")
	}
	return nil
}

// judgeTallies finds controllers that never reconcile, or only fail.
func (e *explorer) judgeTallies() *Violation {
	for _, name := range slices.Sorted(maps.Keys(e.tallies)) {
		t := e.tallies[name]
		switch {
		case t.Ended == 0:
			return &Violation{Invariant: "model", Broken: true, Detail: fmt.Sprintf(
				"controller %q never reconciles: expected an object of its kind in Model.Objects or a foreign step that creates one, and predicates that let its events through", name)}
		case t.Succeeded == 0 && e.demands(reconcilesSucceed):
			o := e.record(schedule.Follow(nil))
			if o.violation == nil {
				o.violation = violationOf(reconcilesSucceed, fmt.Sprintf("each of the %d reconciles of controller %q failed, the last one with: %s", t.Ended, name, t.LastError))
			}
			return e.violation(o, schedule.Encode(e.run, schedule.Choices(o.steps)))
		}
	}
	return nil
}
