package patcher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// lag is a cache that is behind the server, by a number of writes or by a time. It learns of each write from the server's
// answer, so that it needs neither a watch nor a wait.
type lag struct {
	writes int
	delay  time.Duration
	clock  *fakeClock

	mu   sync.Mutex
	seen []written
}

type written struct {
	cell *v1.Cell
	at   time.Time
}

// fakeClock moves only when the test, or a wait, moves it.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	over := make(chan time.Time, 1)
	over <- c.now
	return over
}

// Wrap goes to the clients of all writers.
func (l *lag) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper{next, func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil || req.Method == http.MethodGet || resp.StatusCode >= 300 {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		cell := &v1.Cell{}
		if err := json.Unmarshal(body, cell); err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, written{cell, l.clock.Now()})
		return resp, nil
	}}
}

type roundTripper struct {
	next http.RoundTripper
	do   func(*http.Request) (*http.Response, error)
}

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r.do(req) }

// WrappedRoundTripper lets client-go find the transport, whose idle connections it closes.
func (r roundTripper) WrappedRoundTripper() http.RoundTripper { return r.next }

// cached is the newest state that the cache has by now; the oldest it keeps for ever.
func (l *lag) cached() *v1.Cell {
	l.mu.Lock()
	defer l.mu.Unlock()
	newest := 0
	for i, s := range l.seen {
		if i < len(l.seen)-l.writes && !s.at.Add(l.delay).After(l.clock.Now()) {
			newest = i
		}
	}
	return l.seen[newest].cell
}

// laggingClient reads the cache and writes to the server, as a manager's client does.
type laggingClient struct {
	client.WithWatch
	lag *lag
}

func (c laggingClient) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	c.lag.cached().DeepCopyInto(obj.(*v1.Cell))
	return nil
}

// newLaggingBed has a Cell of which the cache knows the newest spec, and not the foreign status writes that followed.
func newLaggingBed(t *testing.T, writes int, delay time.Duration) (*bed, laggingClient) {
	t.Helper()
	l := &lag{clock: &fakeClock{now: time.Unix(1700000000, 0)}}
	b := newBed(t)
	b.wire.WithWatch = server.Client(t, newScheme(t), b.wire.recorder.Wrap, l.Wrap)
	b.mutate(func(c *v1.Cell) { c.Spec.Image = "image:2" })
	l.clock.After(2 * delay)
	l.writes, l.delay = writes, delay
	for i := range max(writes, 1) {
		b.forge(phase(fmt.Sprintf("Foreign-%d", i)))
	}
	return b, laggingClient{WithWatch: b.wire, lag: l}
}

// observe is the decision: a pure function of the object.
func observe(cell *v1.Cell) error {
	cell.Status.ObservedGeneration = cell.Generation
	return nil
}

// retryFromCache is the loop of widely used helpers: on a conflict, read again, from the client that one has.
func retryFromCache(ctx context.Context, c client.Client, key client.ObjectKey) (tries int, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		tries++
		cell := &v1.Cell{}
		if err := c.Get(ctx, key, cell); err != nil {
			return err
		}
		base := cell.DeepCopy()
		if err := observe(cell); err != nil {
			return err
		}
		return c.Status().Patch(ctx, cell, lockedMerge(base))
	})
	return tries, err
}

func TestS21_ALaggingCache(t *testing.T) {
	for _, row := range []struct {
		name   string
		writes int
		delay  time.Duration
	}{
		{"one write behind", 1, 0},
		{"three writes behind", 3, 0},
		{"twenty writes behind", 20, 0},
		{"a second behind", 0, time.Second},
		{"an hour behind", 0, time.Hour},
	} {
		t.Run("rule: Retry converges with one live read, "+row.name, func(t *testing.T) {
			b, cached := newLaggingBed(t, row.writes, row.delay)
			cell, p, err := v1status.NewCellStatusClient(cached, b.wire, patcher.WithClock(cached.lag.clock)).Fetch(b.ctx, b.key)
			b.must(err)
			sent := b.wire.during(func() {
				if result, err := p.Retry(b.ctx, observe); err != nil || result != patcher.ResultPatched {
					t.Errorf("Retry: %q, %v", result, err)
				}
			})
			if got := fmt.Sprint(sent); got != "[patch cells/status get cells patch cells/status]" {
				t.Errorf("sent %s", got)
			}
			live := b.live()
			if live.Status.ObservedGeneration != live.Generation || live.Status.Phase == "" {
				t.Errorf("generation %d, status %+v", live.Generation, live.Status)
			}
			if cell.ResourceVersion != live.ResourceVersion {
				t.Errorf("the object has resourceVersion %s, the server %s", cell.ResourceVersion, live.ResourceVersion)
			}
		})
		t.Run("rule: the StatusClient's Retry does not look into the cache, "+row.name, func(t *testing.T) {
			b, cached := newLaggingBed(t, row.writes, row.delay)
			sent := b.wire.during(func() {
				if _, err := v1status.NewCellStatusClient(cached, b.wire).Retry(b.ctx, b.key, observe); err != nil {
					t.Error(err)
				}
			})
			if got := fmt.Sprint(sent); got != "[get cells patch cells/status]" {
				t.Errorf("sent %s", got)
			}
		})
		t.Run("control: a loop that re-reads the cache fails all its tries, "+row.name, func(t *testing.T) {
			b, cached := newLaggingBed(t, row.writes, row.delay)
			tries, err := retryFromCache(b.ctx, cached, b.key)
			if !apierrors.IsConflict(err) || tries != retry.DefaultRetry.Steps {
				t.Errorf("%d tries, %v: the rule proves nothing", tries, err)
			}
			if live := b.live(); live.Status.ObservedGeneration == live.Generation {
				t.Errorf("observedGeneration is %d: the rule proves nothing", live.Generation)
			}
		})
	}
	t.Run("control: once the cache has caught up, the same loop needs one try", func(t *testing.T) {
		b, cached := newLaggingBed(t, 0, time.Second)
		cached.lag.clock.After(time.Second)
		if tries, err := retryFromCache(b.ctx, cached, b.key); err != nil || tries != 1 {
			t.Errorf("%d tries, %v: it is not the lag that made the loop fail", tries, err)
		}
	})
}

// One reconcile after the other on a cache that never catches up: each sees what the last one wrote (S28).
func TestS28_ReconcilesOnALaggingCache(t *testing.T) {
	const reconciles = 5
	count := func(t *testing.T, reconcile func(*bed, laggingClient) func() error) (int64, int) {
		b, cached := newLaggingBed(t, 0, time.Hour)
		once, conflicts := reconcile(b, cached), 0
		for range reconciles {
			if err := once(); apierrors.IsConflict(err) {
				conflicts++
			} else {
				b.must(err)
			}
		}
		return b.live().Status.Counter, conflicts
	}
	t.Run("rule: one conflict shows that the cache is behind, and then each reconcile lands", func(t *testing.T) {
		landed, conflicts := count(t, func(b *bed, cached laggingClient) func() error {
			statuses := v1status.NewCellStatusClient(cached, b.wire)
			return func() error {
				cell, p, err := statuses.Fetch(b.ctx, b.key)
				b.must(err)
				cell.Status.Counter++
				_, err = p.Flush(b.ctx)
				return err
			}
		})
		if conflicts != 1 || landed != reconciles-1 {
			t.Errorf("%d landed, %d conflicts", landed, conflicts)
		}
	})
	t.Run("control: the locked idiom conflicts for ever", func(t *testing.T) {
		landed, conflicts := count(t, func(b *bed, cached laggingClient) func() error {
			return func() error {
				cell := &v1.Cell{}
				b.must(cached.Get(b.ctx, b.key, cell))
				base := cell.DeepCopy()
				cell.Status.Counter++
				return cached.Status().Patch(b.ctx, cell, lockedMerge(base))
			}
		})
		if conflicts != reconciles || landed != 0 {
			t.Errorf("%d landed, %d conflicts: the rule proves nothing", landed, conflicts)
		}
	})
}
