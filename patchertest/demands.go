package patchertest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// demand is what is demanded of every model, without knowledge of what it is for. A finding is the detail of a violation.
type demand struct {
	name   string
	commit func(h *History, at int) string // judged after every commit
	quiet  func(h *History) string         // judged once all is quiet
}

// demands are all demands, by the names that Without takes.
var demands = []demand{
	{name: reconcilesSucceed},
	{name: "NoLostWrites", commit: lostWrite},
	{name: "ObservedGenerationWasRead", commit: generationAhead},
	{name: "TransitionTimesAreTrue", commit: falseTransition},
	{name: "WriteOnceFieldsAreKept", commit: rewrittenField},
	{name: "FinalizersAwaitCleanup", commit: finalizerTooEarly},
	{name: "NoDuplicateChildren", quiet: duplicateChildren},
	{name: "NoErrorIsSwallowed", quiet: swallowedError},
}

func demandNames() []string {
	var names []string
	for _, d := range demands {
		names = append(names, d.name)
	}
	return names
}

// judgeDemands judges a commit, or what is there at rest if at is -1.
func (s *settings) judgeDemands(h *History, at int) *world.Violation {
	for _, d := range demands {
		finding := ""
		switch {
		case !s.demands(d.name):
		case at >= 0 && d.commit != nil:
			finding = d.commit(h, at)
		case at < 0 && d.quiet != nil:
			finding = d.quiet(h)
		}
		if finding != "" {
			return violationOf(d.name, finding)
		}
	}
	return nil
}

// primary reports whether a controller of the model is For the kind. What users and others write to objects of other kinds a
// controller may well take back: that is its work.
func (h *History) primary(kind schema.GroupKind) bool { return slices.Contains(h.kinds, kind) }

// lostWrite finds a reconcile that overwrote a field of its own kind, spec and metadata included, that somebody else had changed
// after the reconcile had read the object.
func lostWrite(h *History, at int) string {
	last, note := h.commits[at], h.w.Notes()[at]
	if !note.ByRun || last.Before == nil || note.Read == nil || uidOf(note.Read) != uidOf(last.Before) || !h.primary(last.Key.Kind) || last.Type == watch.Deleted {
		return ""
	}
	known := h.known(at)
	for _, path := range []string{"spec", "status", "metadata.labels", "metadata.annotations", "metadata.finalizers", "metadata.ownerReferences"} {
		read, _ := valueAt(known, path)
		before, _ := valueAt(last.Before, path)
		after, _ := valueAt(last.After, path)
		if found, was := lostField(path, read, before, after); found != "" {
			return fmt.Sprintf("%s of %s: %s was written at %s and overwritten by a writer that had last read %s",
				found, world.Short(last.Key), was, world.Version(last.Before), world.Version(note.Read))
		}
		if path == "status" {
			continue // which a reconcile that has read again may well decide as before
		}
		if found, was := takenBack(path, h.knownSince(at, note.First), note.First, last); found != "" {
			return fmt.Sprintf("%s of %s: %s was written at %s and set back to what the writer had read at %s",
				found, world.Short(last.Key), was, world.Version(last.Before), world.Version(note.First))
		}
	}
	return ""
}

// takenBack finds a field that a write sets back to what the reconcile had read first, although it has read the object again since:
// a new resourceVersion on an old object does that.
func takenBack(path string, known, first map[string]any, last sim.Commit) (string, string) {
	if first == nil || uidOf(first) != uidOf(last.Before) {
		return "", ""
	}
	read, _ := valueAt(known, path)
	before, _ := valueAt(last.Before, path)
	after, _ := valueAt(last.After, path)
	found, was := lostField(path, read, before, after)
	if found == "" {
		return "", ""
	}
	_, there := valueAt(last.Before, found)
	old, had := valueAt(first, found)
	now, has := valueAt(last.After, found)
	if !there || had != has || !sim.EqualJSON(old, now) {
		return "", ""
	}
	return found, was
}

// generationAhead finds a reconcile that says it observed a generation that it never asked for: one that the answer to a write
// told it of, for example.
func generationAhead(h *History, at int) string {
	last, note := h.commits[at], h.w.Notes()[at]
	if !note.ByRun || last.Before == nil || note.Seen == 0 {
		return ""
	}
	observed, ok := valueAt(last.After, "status.observedGeneration")
	before, _ := valueAt(last.Before, "status.observedGeneration")
	if generation, isInt := observed.(int64); ok && isInt && observed != before && generation > note.Seen {
		return fmt.Sprintf("%s: status.observedGeneration became %d, by a reconcile that had read generation %d", world.Short(last.Key), generation, note.Seen)
	}
	return ""
}

// falseTransition finds a condition whose lastTransitionTime does not say when its status changed.
func falseTransition(h *History, at int) string {
	last, note := h.commits[at], h.w.Notes()[at]
	if !note.ByRun || last.Before == nil {
		return ""
	}
	before, _ := valueAt(last.Before, "status.conditions")
	after, _ := valueAt(last.After, "status.conditions")
	old, now := fieldsOf(before), fieldsOf(after)
	for _, name := range sortedNames(now) {
		was, _ := old[name].(map[string]any)
		is, _ := now[name].(map[string]any)
		if was == nil || is == nil || was["lastTransitionTime"] == nil || is["lastTransitionTime"] == nil {
			continue
		}
		sameStatus, sameTime := was["status"] == is["status"], was["lastTransitionTime"] == is["lastTransitionTime"]
		switch {
		case sameStatus && !sameTime:
			return fmt.Sprintf("condition %s of %s: lastTransitionTime moved from %v to %v, while the status stayed %v", name, world.Short(last.Key), was["lastTransitionTime"], is["lastTransitionTime"], is["status"])
		case !sameStatus && sameTime && olderThanASecond(is["lastTransitionTime"], note.Time):
			return fmt.Sprintf("condition %s of %s: the status became %v, while lastTransitionTime stayed %v", name, world.Short(last.Key), is["status"], is["lastTransitionTime"])
		}
	}
	return ""
}

// olderThanASecond compares with the precision of a timestamp of the API.
func olderThanASecond(value any, now time.Time) bool {
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && now.Sub(at) >= 2*time.Second
}

// finalizerTooEarly finds a reconcile that lets an object go although the cleanup that it tried outside failed.
func finalizerTooEarly(h *History, at int) string {
	last, note := h.commits[at], h.w.Notes()[at]
	if !note.ByRun || note.Failed == "" || last.Before == nil || !h.primary(last.Key.Kind) {
		return ""
	}
	before := &unstructured.Unstructured{Object: last.Before}
	after := &unstructured.Unstructured{Object: last.After}
	if before.GetDeletionTimestamp() == nil {
		return ""
	}
	for _, finalizer := range before.GetFinalizers() {
		if !slices.Contains(after.GetFinalizers(), finalizer) {
			return fmt.Sprintf("%s: finalizer %s was removed although %s, and has not succeeded since", world.Short(last.Key), finalizer, note.Failed)
		}
	}
	return ""
}

// duplicateChildren finds two children of one owner that are made for the same: of one kind, alike but for their names, the later
// one created by a reconcile that had not seen the earlier one.
func duplicateChildren(h *History) string {
	type born struct {
		key  sim.Key
		note int
	}
	alike := map[string][]born{}
	for at, c := range h.commits {
		note := h.w.Notes()[at]
		if c.Type != watch.Added || !note.ByRun || uidOf(h.w.Server.Get(c.Key)) != uidOf(c.After) {
			continue
		}
		u := &unstructured.Unstructured{Object: c.After}
		owner := metav1.GetControllerOf(u)
		if owner == nil {
			continue
		}
		role := fmt.Sprint(c.Key.Kind, owner.UID, u.GetGenerateName(), u.GetLabels(), c.After["spec"], c.After["data"])
		for _, other := range alike[role] {
			if h.w.Notes()[other.note].Run != note.Run && !slices.Contains(note.Known, other.key) {
				return fmt.Sprintf("%s and %s have the same owner and the same content; the second was created by a reconcile that had not seen the first", world.Short(other.key), world.Short(c.Key))
			}
		}
		alike[role] = append(alike[role], born{key: c.Key, note: at})
	}
	return ""
}

func swallowedError(h *History) string { return strings.Join(h.w.Swallowed(), "; ") }
