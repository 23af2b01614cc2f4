package patcher_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// TestNoGoroutineLeaks breaks off every wait of the runtime: for an answer, and between two attempts.
func TestNoGoroutineLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for _, at := range slices.Concat(writePoints, readPoints) {
		for _, f := range faults {
			t.Run("rule: "+at.name+": "+f.name, func(t *testing.T) {
				s, _, _, _ := strike(newBed(t), at, f)
				if s.fault.Hits() != 1 {
					t.Errorf("the fault struck %d times: the row proves nothing", s.fault.Hits())
				}
			})
		}
	}
	t.Run("rule: cancelled between two attempts", func(t *testing.T) {
		b := newBed(t)
		ctx, cancel := context.WithCancel(b.ctx)
		_, p := b.fetch(patcher.WithClock(never{cancel}))
		if err := retryAgainst(ctx, b, p); !errors.Is(err, context.Canceled) {
			t.Errorf("Retry: %v", err)
		}
	})
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	t.Run("control: a goroutine that waits for ever is found", func(t *testing.T) {
		forever := make(chan struct{})
		go func() { <-forever }()
		if goleak.Find(before) == nil {
			t.Error("not found: the rule proves nothing")
		}
		close(forever)
	})
}

// The live read that settles a 404 goes wrong: the object is gone or has no status subresource, and nobody knows which.
func TestS13_FaultsAtTheSettlingRead(t *testing.T) {
	for _, f := range faults {
		t.Run("rule: "+f.name, func(t *testing.T) {
			b := newBed(t)
			removed := point{match: reads, nth: 1, act: func(ctx context.Context, b *bed, p *v1status.CellStatusPatcher) error {
				b.must(b.wire.Delete(b.ctx, b.live()))
				return flushMine(ctx, b, p)
			}}
			s, before, observed, err := strike(b, removed, f)
			if s.fault.Hits() != 1 {
				t.Fatalf("the fault struck %d times: the row proves nothing", s.fault.Hits())
			}
			if !apierrors.IsNotFound(err) || errors.Is(err, patcher.ErrNoStatusSubresource) || errors.Is(err, patcher.ErrUnknownOutcome) {
				t.Errorf("Flush: %v, want the 404", err)
			}
			s.requireUnchanged(before, observed)
		})
	}
}

func TestFaultsAtTheFetch(t *testing.T) {
	for _, f := range faults {
		t.Run("rule: "+f.name, func(t *testing.T) {
			b := newBed(t)
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			fault := realserver.NewFault(reads, f.answer(cancel))
			c := server.Client(t, newScheme(t), fault.Wrap)
			cell, p, err := v1status.NewCellStatusClient(c, c).Fetch(ctx, b.key)
			if fault.Hits() != 1 {
				t.Fatalf("the fault struck %d times: the row proves nothing", fault.Hits())
			}
			if again := f.transparent || f.name == "connection reset"; again != (err == nil) || (err == nil) != (p != nil && cell != nil) {
				t.Errorf("Fetch: %v, %v, %v", cell, p, err)
			}
			var refused *patcher.ConflictError
			if errors.As(err, &refused) {
				t.Errorf("a read that failed is taken for a write that was refused: %v", err)
			}
			_, p = b.fetch()
			b.must(flushMine(b.ctx, b, p))
		})
	}
}

// A server that throttles for ever: client-go gives up after its tries, and the answer is a refusal, not a doubt.
func TestFaultsThatDoNotEnd(t *testing.T) {
	b := newBed(t)
	fault := realserver.NewFault(statusPatches, realserver.TooManyRequests(0), realserver.Times(-1))
	c := server.Client(t, newScheme(t), fault.Wrap)
	cell, p, err := v1status.NewCellStatusClient(c, b.wire).Fetch(b.ctx, b.key)
	b.must(err)
	observed := p.Observed()
	b.must(mine(cell))
	before := cell.DeepCopy()
	_, err = p.Flush(b.ctx)
	if !apierrors.IsTooManyRequests(err) || read(err) != saysNotWritten {
		t.Errorf("Flush: %v", err)
	}
	struck{bed: b, p: p}.requireUnchanged(before, observed)
	if fault.Hits() < 2 {
		t.Errorf("struck %d times: client-go did not try again", fault.Hits())
	}
}
