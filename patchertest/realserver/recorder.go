package realserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Recorder keeps the requests for resources that were made through Wrap, each try of a client that tries again included,
// and tells those of one reconcile from those of another. It is safe for concurrent use; the zero value is ready.
type Recorder struct {
	mu         sync.Mutex
	requests   []*Request
	reconciles []Reconcile
}

// Reconcile is one reconcile that has ended: what it was asked, what it did, and what it returned.
type Reconcile struct {
	Request  reconcile.Request // what it was asked
	Requests []Request         // in the order they were made
	Result   reconcile.Result  // what it returned
	Err      error             // with that result
}

// Wrap goes to Server.Config, Server.Client or the Wrap of a rest.Config.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return &interceptor{next: next, intercept: r.record}
}

// currentReconcile is the context key of the requests of the running reconcile.
type currentReconcile struct{ recorder *Recorder }

func (r *Recorder) record(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	read, req, err := readRequest(req)
	if err != nil {
		return nil, err
	}
	if read.Resource == "" {
		return next.RoundTrip(req)
	}
	entry := &read
	r.mu.Lock()
	r.requests = append(r.requests, entry)
	if own, _ := req.Context().Value(currentReconcile{r}).(*[]*Request); own != nil {
		*own = append(*own, entry)
	}
	r.mu.Unlock()

	resp, err := next.RoundTrip(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	if entry.Err = err; err == nil {
		entry.Code = resp.StatusCode
	}
	return resp, err
}

// Reconciler wraps a reconciler, whose clients use this Recorder's Wrap, so that Reconciles can tell its reconciles
// apart: a request belongs to the reconcile whose context it is made with.
func (r *Recorder) Reconciler(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		var own []*Request
		result, err := inner.Reconcile(context.WithValue(ctx, currentReconcile{r}, &own), req)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reconciles = append(r.reconciles, Reconcile{Request: req, Requests: snapshot(own), Result: result, Err: err})
		return result, err
	})
}

// Requests returns what was recorded and is meant by every match, in the order it was made.
func (r *Recorder) Requests(matches ...Match) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(snapshot(r.requests), func(req Request) bool {
		return slices.ContainsFunc(matches, func(match Match) bool { return !match(req) })
	})
}

// Reconciles returns the reconciles that have ended, in the order of their ends.
func (r *Recorder) Reconciles() []Reconcile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.reconciles)
}

// Reset forgets what was recorded.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.reconciles = nil, nil
}

func snapshot(entries []*Request) []Request {
	requests := make([]Request, len(entries))
	for i, entry := range entries {
		requests[i] = *entry
	}
	return requests
}

// Count counts requests by their String: {"get databases": 1, "patch databases/status": 1}.
func Count(requests []Request) map[string]int {
	counts := map[string]int{}
	for _, r := range requests {
		counts[r.String()]++
	}
	return counts
}

// OneStatusPatch returns the status write among the requests. It is an error if there is none or more than one, if it is
// not a patch, or if it carries no resourceVersion, so that the server could not refuse it.
func OneStatusPatch(requests []Request) (Request, error) {
	writes := slices.DeleteFunc(slices.Clone(requests), func(r Request) bool { return !StatusWrites()(r) })
	if len(writes) != 1 {
		return Request{}, fmt.Errorf("expected one status write, found %d among: %s", len(writes), list(requests))
	}
	write := writes[0]
	if write.Verb != "patch" {
		return write, fmt.Errorf("expected a patch of the status, found an update: %s", list(requests))
	}
	if write.ResourceVersion() == "" {
		return write, fmt.Errorf("expected metadata.resourceVersion in the body of %s, found %s;"+
			" write under client.MergeFromWithOptimisticLock", write, write.Body)
	}
	return write, nil
}

// list names requests for an error.
func list(requests []Request) string {
	if len(requests) == 0 {
		return "no requests"
	}
	names := make([]string, len(requests))
	for i, r := range requests {
		names[i] = fmt.Sprintf("%s %s (%d)", r, strings.Trim(r.Namespace+"/"+r.Name, "/"), r.Code)
	}
	return strings.Join(names, ", ")
}
