package mistakes

import (
	"strings"
	"testing"
)

// mistakes are those of handwritten-operator, numbered as there. show runs an operator into one of them and returns the
// symptom, or nil where there is none.
var mistakes = []struct {
	name    string
	show    func(*trial) error
	symptom string
}{
	{"L0 two replicas plan one Database", twoPlans, "the plan was erased"},
	{"L0 one replica plans on a stale cache", planOnStaleCache, "the plan was erased"},
	{"L0 two Backups claim one Database", twoClaims, "both Backups run"},
	{"L0 a condition is set on a stale read", conditionErased, "the condition Ready went back to False"},
	{"L1 the new StatefulSet is deleted as an impostor", healthyDeleted, "2 StatefulSets were deleted"},
	{"L2 a transition makes no event", noEvent, "no event"},
	{"L3 an edit whose write failed is never written", editDropped, "the Backup never says which Database it claimed"},
	{"L4 an error hides its reason from the user", reasonHidden, "the status does not say what is wrong with the settings"},
	{"L5 the finalizer makes the first write conflict", firstWriteConflicts, "1 conflict with nobody else writing"},
	{"L6 conflicts back off exponentially", backoff, "waits longer than 3s"},
}

// wrapCures are the mistakes that a client which checks status writes cures: decisions on a stale read. What happens after a
// conflict, and what is written at all, is up to the operator's own code.
const wrapCures = "L0"

func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name+"/handwritten", func(t *testing.T) {
			switch symptom := m.show(newTrial(t, before)); {
			case symptom == nil:
				t.Error("the mistake does not show: the test proves nothing of the other operator")
			case !strings.Contains(symptom.Error(), m.symptom):
				t.Errorf("found %q, want %q", symptom, m.symptom)
			}
		})
		t.Run(m.name+"/wrapped", func(t *testing.T) {
			symptom := m.show(newTrial(t, wrapped))
			if cured := strings.HasPrefix(m.name, wrapCures); (symptom == nil) != cured {
				t.Errorf("found %v, expected that checked writes cure it: %v", symptom, cured)
			}
		})
		t.Run(m.name+"/generated", func(t *testing.T) {
			if symptom := m.show(newTrial(t, after)); symptom != nil {
				t.Error(symptom)
			}
		})
	}
}
