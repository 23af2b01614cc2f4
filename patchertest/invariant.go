package patchertest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// Invariant is what must hold in every schedule. Make one with the functions below.
type Invariant struct {
	name   string
	focus  []string // paths that a report shows
	paths  []string // paths that a kind of the model must have
	commit func(h *History) error
	quiet  func(h *History, m *Model) error
	probe  bool
	always bool // also judged after calls of outside systems
}

// Always judges after every commit and after every Call of an outside system. An error is a violation, its text the detail in the report.
func Always(name string, check func(h History) error) Invariant {
	return Invariant{name: name, always: true, commit: func(h *History) error { return check(*h) }}
}

// Eventually judges once all is quiet: queues and deliveries are empty, and no timer would change anything.
func Eventually(name string, check func(h History) error) Invariant {
	return Invariant{name: name, quiet: func(h *History, _ *Model) error { return check(*h) }}
}

// AtMostOneEver wants at most one value at a path, such as status.plan.id, in all versions ever committed of one object
// (a recreated object is another one). The path is of JSON names with dots between; it leads through objects, not into lists.
// Absent, null and "" are no values.
func AtMostOneEver(path string) Invariant {
	return Invariant{name: "AtMostOneEver(" + path + ")", focus: []string{path}, paths: []string{path}, commit: func(h *History) error {
		last := h.commits[len(h.commits)-1]
		uid := uidOf(last.After)
		var values []string
		for _, c := range h.commits {
			value, ok := valueAt(c.After, path)
			if !ok || value == nil || value == "" || uidOf(c.After) != uid {
				continue
			}
			if text := fmt.Sprint(value); !slices.Contains(values, text) {
				values = append(values, text)
			}
		}
		if len(values) > 1 {
			return errors.New(strings.Join(values, ", "))
		}
		return nil
	}}
}

// NoLostStatusWrite wants no write to change a field of status that somebody else had changed after the writer's last
// read of the object.
func NoLostStatusWrite() Invariant {
	return Invariant{name: "NoLostStatusWrite", commit: func(h *History) error {
		at := len(h.commits) - 1
		last, note := h.commits[at], h.w.Notes()[at]
		if last.Before == nil || note.Read == nil || uidOf(note.Read) != uidOf(last.Before) {
			return nil
		}
		known := h.known(at)
		if path, was := lostField("status", known["status"], last.Before["status"], last.After["status"]); path != "" {
			return fmt.Errorf("%s of %s: %s was written at %s and overwritten by a writer that had last read %s",
				path, world.Short(last.Key), was, world.Version(last.Before), world.Version(note.Read))
		}
		return nil
	}}
}

// known is what the writer of a commit knew of the object: what it had read, with what it wrote itself since then. To overwrite
// one's own value is no loss.
func (h *History) known(at int) map[string]any { return h.knownSince(at, h.w.Notes()[at].Read) }

// knownSince is what the writer of a commit knew if it had last read a given version.
func (h *History) knownSince(at int, read map[string]any) map[string]any {
	commit, note := h.commits[at], h.w.Notes()[at]
	known := read
	var newer bool
	for i, c := range h.commits[:at] {
		if c.Key != commit.Key || c.Before == nil {
			continue
		}
		newer = newer || versionOf(c.Before) == versionOf(read)
		if own := h.w.Notes()[i].Writer; newer && own != "" && own == note.Writer {
			known, _ = absorb(known, c.Before, c.After).(map[string]any)
		}
	}
	return known
}

// absorb applies to a known value the change of another one from before to after.
func absorb(known, before, after any) any {
	if sim.EqualJSON(before, after) {
		return known
	}
	k, b, a := fieldsOrNone(known), fieldsOrNone(before), fieldsOrNone(after)
	if k == nil || b == nil || a == nil {
		return after
	}
	out := map[string]any{}
	for _, name := range sortedNames(k, b, a) {
		if value := absorb(k[name], b[name], a[name]); value != nil {
			out[name] = value
		}
	}
	return out
}

// fieldsOrNone sees an absent value as one without fields, and a value that has no fields as nil.
func fieldsOrNone(value any) map[string]any {
	if value == nil {
		return map[string]any{}
	}
	return fieldsOf(value)
}

func versionOf(content map[string]any) string {
	return (&unstructured.Unstructured{Object: content}).GetResourceVersion()
}

// lostField finds a field that changed between read and before, and that after changes again.
func lostField(path string, read, before, after any) (string, string) {
	if sim.EqualJSON(read, before) || sim.EqualJSON(before, after) {
		return "", ""
	}
	r, b, a := fieldsOf(read), fieldsOf(before), fieldsOf(after)
	if r == nil && read != nil || b == nil && before != nil || a == nil && after != nil {
		return path, shown(before)
	}
	for _, name := range sortedNames(b, r, a) {
		if found, was := lostField(path+"."+name, r[name], b[name], a[name]); found != "" {
			return found, was
		}
	}
	return "", ""
}

// fieldsOf sees an object as its fields, a list of conditions or the like as a map by type or name, and a list of strings as a set.
func fieldsOf(value any) map[string]any {
	switch v := value.(type) {
	case map[string]any:
		return v
	case []any:
		out := map[string]any{}
		for _, item := range v {
			if text, ok := item.(string); ok {
				out[text] = true
				continue
			}
			fields, ok := item.(map[string]any)
			if !ok {
				return nil
			}
			key, ok := fields["type"].(string)
			if !ok {
				key, ok = fields["name"].(string)
			}
			if !ok {
				return nil
			}
			out[key] = fields
		}
		return out
	}
	return nil
}

// EventuallyObserved wants status.observedGeneration to equal metadata.generation once all is quiet, for every object of
// a kind that a controller is For and whose status has that field.
func EventuallyObserved() Invariant {
	return Invariant{name: "EventuallyObserved", focus: []string{"status.observedGeneration"}, quiet: func(h *History, m *Model) error {
		judged := false
		for _, c := range m.Controllers {
			if !hasObservedGeneration(c.For) {
				continue
			}
			judged = true
			kind, err := h.catalog.KindFor(c.For)
			if err != nil {
				return err
			}
			for _, key := range h.w.Server.Keys() {
				if key.Kind != kind.GVK.GroupKind() {
					continue
				}
				u := unstructured.Unstructured{Object: h.w.Server.Get(key)}
				observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
				if observed != u.GetGeneration() {
					return fmt.Errorf("%s: generation is %d, observed %d", world.Short(key), u.GetGeneration(), observed)
				}
			}
		}
		if !judged {
			return errors.New("expected a controller For a kind with status.observedGeneration, found none: leave this invariant out")
		}
		return nil
	}}
}

func hasObservedGeneration(obj any) bool {
	if obj == nil {
		return false
	}
	status, ok := reflect.TypeOf(obj).Elem().FieldByName("Status")
	if !ok || status.Type.Kind() != reflect.Struct {
		return false
	}
	_, ok = status.Type.FieldByName("ObservedGeneration")
	return ok
}

// EventuallyQuiescent wants one more reconcile of every key, once all is quiet, to write nothing.
func EventuallyQuiescent() Invariant {
	return Invariant{name: "EventuallyQuiescent", probe: true}
}

// NoPanics wants no reconcile to panic. The manager recovers from panics, so that without it they count as errors.
func NoPanics() Invariant {
	return Invariant{name: "NoPanics", quiet: func(h *History, _ *Model) error {
		if detail := h.w.Panicked(); detail != "" {
			return errors.New(detail)
		}
		return nil
	}}
}

func uidOf(content map[string]any) string {
	return string((&unstructured.Unstructured{Object: content}).GetUID())
}

func shown(value any) string {
	text := fmt.Sprint(value)
	if value == nil {
		text = "nothing"
	}
	if len(text) > 60 {
		text = text[:57] + "..."
	}
	return text
}

func sortedNames(maps ...map[string]any) []string {
	var names []string
	for _, m := range maps {
		for name := range m {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Name is what reports call the invariant.
func (i Invariant) Name() string { return i.name }
