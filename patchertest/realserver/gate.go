package realserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// Gate holds the requests it is made for before they reach the server, each until it is released: two reconciles that
// are both held before their status write have both decided on what they read. It is safe for concurrent use.
type Gate struct {
	match Match

	mu      sync.Mutex
	waiting []*Held // held, and not yet returned by Next
	passed  []Request
	changed chan struct{} // closed and replaced when a request arrives
	opened  chan struct{}
	open    sync.Once
}

// Held is a request that waits at a gate.
type Held struct {
	// Request is as it is when it is held: it has no answer yet.
	Request Request

	release  sync.Once
	released chan struct{}
	done     chan struct{}
}

// NewGate returns a gate that holds what match means. It opens at the test's end, so that nothing hangs on it.
func NewGate(t testing.TB, match Match) *Gate {
	g := &Gate{match: match, changed: make(chan struct{}), opened: make(chan struct{})}
	t.Cleanup(g.Open)
	return g
}

// Wrap goes to Server.Config, Server.Client or the Wrap of a rest.Config.
func (g *Gate) Wrap(next http.RoundTripper) http.RoundTripper {
	return &interceptor{next: next, intercept: g.hold}
}

func (g *Gate) hold(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	read, req, err := readRequest(req)
	if err != nil {
		return nil, err
	}
	if !g.match(read) {
		g.note(read)
		return next.RoundTrip(req)
	}
	held := &Held{Request: read, released: make(chan struct{}), done: make(chan struct{})}
	defer close(held.done)
	g.add(held)
	select {
	case <-held.released:
	case <-g.opened:
	case <-req.Context().Done():
		g.remove(held)
		return nil, context.Cause(req.Context())
	}
	return next.RoundTrip(req)
}

// Next returns the request that is held longest among those it has not returned yet. It blocks until there is one, or
// ctx is done; the error then names the requests that were not held.
func (g *Gate) Next(ctx context.Context) (*Held, error) {
	for {
		g.mu.Lock()
		changed := g.changed
		if len(g.waiting) > 0 {
			held := g.waiting[0]
			g.waiting = g.waiting[1:]
			g.mu.Unlock()
			return held, nil
		}
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			g.mu.Lock()
			defer g.mu.Unlock()
			return nil, fmt.Errorf("expected a request to be held at the gate, found none; others passed: %s: %w",
				list(g.passed), context.Cause(ctx))
		}
	}
}

// Open lets go what is held and holds nothing from now on.
func (g *Gate) Open() {
	g.open.Do(func() { close(g.opened) })
}

// Release lets the request go to the server; it does not wait for the answer. A second call does nothing.
func (h *Held) Release() {
	h.release.Do(func() { close(h.released) })
}

// Done is closed when the request is over: it was answered, or its client gave up.
func (h *Held) Done() <-chan struct{} { return h.done }

func (g *Gate) add(held *Held) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.opened: // it only passes
		return
	default:
	}
	g.waiting = append(g.waiting, held)
	close(g.changed)
	g.changed = make(chan struct{})
}

// remove drops a request whose client gave up.
func (g *Gate) remove(held *Held) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(h *Held) bool { return h == held })
}

func (g *Gate) note(passed Request) {
	if passed.Resource == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed = append(g.passed, passed)
}
