package patcher

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// A BlindClass says in which way a status write is not checked. The names are those of the lint rule's classes.
type BlindClass string

const (
	BlindMerge  BlindClass = "blind-merge"  // a merge patch without resourceVersion
	BlindJSON   BlindClass = "blind-json"   // a JSON patch without resourceVersion
	BlindUpdate BlindClass = "blind-update" // an Update of an object without resourceVersion
	BlindApply  BlindClass = "blind-apply"  // server-side apply, which checks only who owns a field
)

// An Action is what a wrapped client did with a blind write.
type Action string

const (
	ActionSent    Action = "sent"    // as it was: in mode Report, for server-side apply, and for objects without a version
	ActionAllowed Action = "allowed" // as it was, because AllowBlind allows it
	ActionLocked  Action = "locked"  // with the optimistic lock
	ActionRefused Action = "refused" // not at all
)

// A Passed is a reason for which a wrapped client left a write as it was, or did not have to send it.
type Passed string

const (
	PassedLocked        Passed = "locked"         // it had a lock: an Update, or a patch with a resourceVersion
	PassedUnchanged     Passed = "unchanged"      // it would have changed nothing, and was not sent
	PassedPatchedUpdate Passed = "patched update" // PatchUpdates made a locked patch of it
	PassedOtherKind     Passed = "other kind"     // the kind is not registered
	PassedNoStatus      Passed = "no status"      // a patch that writes nothing of the status, but metadata or spec
	PassedOtherFormat   Passed = "other format"   // a patch that cannot be read
)

// A BlindWrite is one status write that nothing protects.
type BlindWrite struct {
	// Kind and Key name the object: "Database".
	Kind string
	Key  client.ObjectKey
	// Class says why the write is blind, and Action what became of it.
	Class  BlindClass
	Action Action
	// Site is where the operator calls the client.
	Site Site
}

// A Site is a place in the code of an operator.
type Site struct {
	// Function is its full name, with the package path.
	Function string
	// File and Line are where the call is.
	File string
	Line int
}

// String returns file:line and the function.
func (s Site) String() string { return fmt.Sprintf("%s:%d (%s)", s.File, s.Line, s.Function) }

// A BlindWriteObserver receives every blind write, on the goroutine that made it. It must be safe for concurrent use.
type BlindWriteObserver interface {
	// ObserveBlindWrite gets the context of the write and what it was.
	ObserveBlindWrite(ctx context.Context, w BlindWrite)
}

// A WriteReport says what status writes a wrapped client has seen.
type WriteReport struct {
	// Blind has an entry for each place in the code, kind, class and action, in the order of files and lines.
	Blind []BlindSite
	// Passed counts the other writes by reason.
	Passed map[Passed]int
}

// A BlindSite is a place that writes status blindly.
type BlindSite struct {
	// BlindWrite is the first one seen there.
	BlindWrite
	// Count is how many there were.
	Count int
}

// String returns a line for each place and one for each count.
func (r WriteReport) String() string {
	var text strings.Builder
	for _, site := range r.Blind {
		fmt.Fprintf(&text, "%s: %s of %s, %s, %d times, first %s\n", site.Site, site.Class, site.Kind, site.Action, site.Count, site.Key)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Passed)) {
		fmt.Fprintf(&text, "%s: %d\n", reason, r.Passed[reason])
	}
	return text.String()
}

// Report returns what the client has seen so far.
func (w *WrappedClient) Report() WriteReport { return w.report.snapshot() }

// report is what a wrapped client has seen. It grows with the places in the code, not with objects.
type report struct {
	mu     sync.Mutex
	sites  map[siteKey]*BlindSite
	counts map[Passed]int
}

type siteKey struct {
	kind   string
	class  BlindClass
	action Action
	site   Site
}

func newReport() *report {
	return &report{sites: map[siteKey]*BlindSite{}, counts: map[Passed]int{}}
}

func (r *report) passed(reason Passed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[reason]++
}

// add counts a blind write, and reports whether it is the first of its place.
func (r *report) add(w BlindWrite) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := siteKey{w.Kind, w.Class, w.Action, w.Site}
	site := r.sites[key]
	if site == nil {
		site = &BlindSite{BlindWrite: w}
		r.sites[key] = site
	}
	site.Count++
	return site.Count == 1
}

func (r *report) snapshot() WriteReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := WriteReport{Passed: maps.Clone(r.counts)}
	for _, site := range r.sites {
		out.Blind = append(out.Blind, *site)
	}
	slices.SortFunc(out.Blind, func(a, b BlindSite) int {
		return cmp.Or(cmp.Compare(a.Site.File, b.Site.File), cmp.Compare(a.Site.Line, b.Site.Line),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Action, b.Action))
	})
	return out
}

// blindWrite is a blind write that was found, and what is known of it.
type blindWrite struct {
	kind       *boundKind
	obj        client.Object
	fieldOwner string
	class      BlindClass
	action     Action
	site       Site
}

// blind reports a blind write: to the log once for each place, to the observer each time.
func (w *WrappedClient) blind(ctx context.Context, found blindWrite) {
	write := BlindWrite{
		Kind: found.kind.kind.KindName(), Key: client.ObjectKeyFromObject(found.obj),
		Class: found.class, Action: found.action, Site: found.site,
	}
	if w.report.add(write) {
		log.FromContext(ctx).Info("blind status write: it is not checked against the state that it was decided on",
			"statusKind", write.Kind, "object", write.Key, "class", write.Class, "action", write.Action, "site", write.Site.String())
	}
	if w.options.observer != nil {
		w.options.observer.ObserveBlindWrite(ctx, write)
	}
}

// sendBlind reports a blind write that is sent as it is.
func (w *WrappedClient) sendBlind(ctx context.Context, found blindWrite) {
	found.action = ActionSent
	if w.allows(found) {
		found.action = ActionAllowed
	}
	w.blind(ctx, found)
}

// allows reports whether AllowBlind allows the writer.
func (w *WrappedClient) allows(found blindWrite) bool {
	return slices.ContainsFunc(w.options.allowed, func(a allowance) bool {
		if a.kind != found.kind.kind {
			return false
		}
		return found.fieldOwner != "" && a.by == found.fieldOwner || isFunction(found.site.Function, a.by)
	})
}

// isFunction reports whether name is the function's name, with or without the beginning of its package path, or that of the
// function that a closure is in. The compiler names a closure after where it is, and puts the names of functions that it was inlined
// into before that.
func isFunction(function, name string) bool {
	before, after, found := strings.Cut(function, name)
	if !found || name == "" {
		return false
	}
	begins := before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, ".")
	return begins && (after == "" || strings.HasPrefix(after, ".func") || strings.HasPrefix(after, "-fm") || strings.HasPrefix(after, "[...]"))
}

// callSite is the innermost caller outside of this package and controller-runtime.
func callSite() Site {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		if !isPlumbing(frame.Function) || !more {
			return Site{Function: frame.Function, File: frame.File, Line: frame.Line}
		}
	}
}

// isPlumbing reports whether a function only hands requests on.
func isPlumbing(function string) bool {
	return strings.HasPrefix(function, "github.com/statuspatcher/statuspatcher/patcher.") ||
		strings.HasPrefix(function, "sigs.k8s.io/controller-runtime/")
}
