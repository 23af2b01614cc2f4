package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// Tally counts how the reconciles of a controller ended.
type Tally struct {
	Ended     int
	Succeeded int
	LastError string
}

// Tallies returns the tally of each controller by its name.
func (w *World) Tallies() map[string]Tally { return w.tallies }

func (w *World) countEnd(r *run) {
	if w.last == nil {
		w.last = map[string]*run{}
	}
	w.last[r.thread] = r
	if w.tallies == nil {
		w.tallies = map[string]Tally{}
	}
	t := w.tallies[r.c.name]
	t.Ended++
	if r.err == nil {
		t.Succeeded++
	} else {
		t.LastError = r.err.Error()
	}
	w.tallies[r.c.name] = t
	if unknownKind(r.err) && w.unfit == "" {
		w.unfit = fmt.Sprintf("%s, reconcile of %s: %v: add the kind to Model.Scheme, and its CRD to Model.CRDs", r.c.who(), r.key, r.err)
	}
}

// unknownKind reports whether a reconcile failed because the model does not have a kind.
func unknownKind(err error) bool {
	var group *discovery.ErrGroupDiscoveryFailed
	return err != nil && (meta.IsNoMatchError(err) || errors.As(err, &group) || anyInChain(err, runtime.IsNotRegisteredError))
}

func anyInChain(err error, is func(error) bool) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if is(err) {
			return true
		}
	}
	return false
}

// Swallowed returns, for each key whose last reconcile said that all is well although a call of it had failed, what failed.
func (w *World) Swallowed() []string {
	var out []string
	for _, thread := range slices.Sorted(maps.Keys(w.last)) {
		r := w.last[thread]
		if r.err != nil || r.result.RequeueAfter > 0 || r.c.proc.dead {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(r.failures)) {
			f := r.failures[key]
			if f.ifThere && w.Server.Get(f.key) == nil {
				continue // what it wanted to write to is gone
			}
			out = append(out, fmt.Sprintf("%s: the last reconcile of %s returned no error, although %s failed with %s; nothing tries again", r.c.who(), r.key, f.call, f.how))
		}
	}
	return out
}

// failure is a call that failed and that the same reconcile did not repeat with success.
type failure struct {
	key       sim.Key
	ifThere   bool // it matters only if the object is there
	call, how string
}

// noteFailure keeps calls that failed, until the same reconcile succeeds with one like it.
func (r *run) noteFailure(c *call) {
	if !c.acts() || c.r != nil && c.r.Subresource == "" && (c.verb == "delete" || c.verb == "create") && c.answer != nil && c.answer.Err != nil && c.err == nil {
		return // gone already, or there already
	}
	switch {
	case c.err != nil:
		r.fail(c, "a timeout")
	case c.outside != nil:
		delete(r.failures, c.what())
	case c.answer.Err != nil:
		r.fail(c, c.status())
	default:
		delete(r.failures, c.what())
	}
}

func (r *run) fail(c *call, how string) {
	if r.failures == nil {
		r.failures = map[string]failure{}
	}
	r.failures[c.what()] = failure{key: c.key, ifThere: c.outside == nil && c.verb != "create", call: c.title(), how: how}
}

// gone are words by which outside systems say that what was to be deleted is not there.
var gone = []string{"not found", "notfound", "no such", "not exist", "404", "gone"}

// noteOutside keeps outside calls that failed while an object was being deleted, until one of the same name succeeds for it.
func (w *World) noteOutside(c *call) {
	if !c.run.cleansUp() {
		return
	}
	thread := c.run.c.name + "/" + c.run.key.String()
	result := strings.ToLower(c.outside.result)
	fails := c.err != nil || strings.HasPrefix(result, "error: ") && !slices.ContainsFunc(gone, func(word string) bool { return strings.Contains(result, word) })
	if !fails {
		delete(w.failed[thread], c.outside.name)
		return
	}
	if w.failed == nil {
		w.failed = map[string]map[string]string{}
	}
	if w.failed[thread] == nil {
		w.failed[thread] = map[string]string{}
	}
	how := c.outside.result
	if c.err != nil {
		how = "a timeout"
	}
	w.failed[thread][c.outside.name] = fmt.Sprintf("%s failed with %s", c.outside.name, how)
}

// cleansUp reports whether the reconcile has seen that its object is being deleted.
func (r *run) cleansUp() bool {
	if r.c.cfg.For == nil {
		return false
	}
	content := r.reads[sim.Key{Kind: r.c.cfg.For.GVK.GroupKind(), Namespace: r.key.Namespace, Name: r.key.Name}]
	return content != nil && (&unstructured.Unstructured{Object: content}).GetDeletionTimestamp() != nil
}

func (w *World) failedCall(r *run) string {
	calls := w.failed[r.c.name+"/"+r.key.String()]
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		return calls[name]
	}
	return ""
}

// saw notes what a reconcile asked for and received.
func (r *run) saw(key sim.Key, content map[string]any) {
	if r.generations == nil {
		r.generations, r.first = map[sim.Key]int64{}, map[sim.Key]map[string]any{}
	}
	if r.first[key] == nil {
		r.first[key] = content
	}
	r.generations[key] = max(r.generations[key], (&unstructured.Unstructured{Object: content}).GetGeneration())
}

// note describes the writer of a commit.
func (r *run) note(w *World, key sim.Key, note commitNote) commitNote {
	note.ByRun, note.Run, note.First, note.Seen, note.Failed = true, r.number, r.first[key], r.generations[key], w.failedCall(r)
	for known := range r.reads {
		note.Known = append(note.Known, known)
	}
	return note
}
