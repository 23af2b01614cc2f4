package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// conflict makes one Flush of the client conflict.
func conflict(b *bed, statuses *v1status.CellStatusClient) error {
	b.Helper()
	cell, p, err := statuses.Fetch(b.ctx, b.key)
	b.must(err)
	b.forge(func(s *v1.CellStatus) { s.Counter++ })
	cell.Status.Phase = "Mine"
	_, err = p.Flush(b.ctx)
	if !apierrors.IsConflict(err) {
		b.Fatalf("Flush: %v, want a conflict", err)
	}
	return err
}

func TestS35_RequeueOnConflict(t *testing.T) {
	b := newBed(t)
	ours := conflict(b, b.statuses())
	boom := errors.New("boom")
	applyConflict := apierrors.NewConflict(schema.GroupResource{Resource: "cells"}, "a", errors.New("field manager"))
	for _, row := range []struct {
		name  string
		err   error
		quiet bool
	}{
		{"a conflict", ours, true},
		{"a wrapped conflict", fmt.Errorf("flushing: %w", ours), true},
		{"two conflicts", errors.Join(ours, fmt.Errorf("w: %w", ours)), true},
		{"generation", fmt.Errorf("w: %w", patcher.ErrGenerationChanged), true},
		{"replaced", patcher.ErrReplaced, true},
		{"deleting", errors.Join(ours, patcher.ErrDeleting), true},
		{"joined with anything else", errors.Join(ours, boom), false},
		{"wrapped with anything else", fmt.Errorf("%w and %w", ours, boom), false},
		{"a conflict that is not the patcher's", applyConflict, false},
		{"stale base", patcher.ErrStaleBase, false},
		{"anything else", boom, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			result, err := patcher.RequeueOnConflict(row.err)
			if row.quiet && (err != nil || result.RequeueAfter < 20*time.Millisecond || result.RequeueAfter > 2*time.Second) {
				t.Errorf("%+v, %v: want a quiet requeue", result, err)
			}
			if !row.quiet && (err != row.err || result != reconcile.Result{}) {
				t.Errorf("%+v, %v: want the error as it is", result, err)
			}
		})
	}
	if result, err := patcher.RequeueOnConflict(nil); err != nil || result != (reconcile.Result{}) {
		t.Errorf("nil: %+v, %v", result, err)
	}
	t.Run("control: IsConflict alone would hide both", func(t *testing.T) {
		if !apierrors.IsConflict(errors.Join(ours, boom)) || !apierrors.IsConflict(applyConflict) {
			t.Error("a test of IsConflict would do")
		}
	})
}

func TestS35_TheDelayGrowsAndASuccessResetsIt(t *testing.T) {
	b := newBed(t)
	statuses := b.statuses(patcher.WithJitter(func() float64 { return 1 }))
	delay := func() time.Duration {
		result, err := patcher.RequeueOnConflict(conflict(b, statuses))
		b.must(err)
		return result.RequeueAfter
	}
	want := 20 * time.Millisecond
	for range 9 {
		if got := delay(); got != want {
			t.Fatalf("delay %s, want %s", got, want)
		}
		want = min(2*want, 2*time.Second)
	}
	cell, p, err := statuses.Fetch(b.ctx, b.key)
	b.must(err)
	cell.Status.Phase = "Landed"
	b.flush(p, patcher.ResultPatched)
	if got := delay(); got != 20*time.Millisecond {
		t.Errorf("after a success the delay is %s", got)
	}
}

// returning runs a reconcile that ends with result and failed, and flushes in a defer.
func returning(ctx context.Context, p *v1status.CellStatusPatcher, ended reconcile.Result, failed error) (result reconcile.Result, err error) {
	defer p.FlushOnReturn(ctx, &result, &err)
	return ended, failed
}

func TestS36_FlushOnReturn(t *testing.T) {
	boom := errors.New("boom")
	edited := func(t *testing.T, foreign bool) (*bed, *v1status.CellStatusPatcher) {
		b := newBed(t)
		cell, p := b.fetch()
		if foreign {
			b.forge(phase("Foreign"))
		}
		cell.Status.Phase = "Mine"
		return b, p
	}
	t.Run("a status that explains the error lands", func(t *testing.T) {
		b, p := edited(t, false)
		if _, err := returning(b.ctx, p, reconcile.Result{}, boom); !errors.Is(err, boom) || b.live().Status.Phase != "Mine" {
			t.Errorf("%v, phase %q", err, b.live().Status.Phase)
		}
	})
	t.Run("a conflict becomes a quiet requeue", func(t *testing.T) {
		b, p := edited(t, true)
		if result, err := returning(b.ctx, p, reconcile.Result{}, nil); err != nil || result.RequeueAfter == 0 {
			t.Errorf("%+v, %v", result, err)
		}
	})
	for _, row := range []struct {
		name  string
		asked time.Duration
		wins  bool
	}{{"the earlier RequeueAfter wins: ours", time.Hour, false}, {"the earlier RequeueAfter wins: the caller's", time.Millisecond, true}} {
		t.Run(row.name, func(t *testing.T) {
			b, p := edited(t, true)
			result, err := returning(b.ctx, p, reconcile.Result{RequeueAfter: row.asked}, nil)
			if err != nil || (result.RequeueAfter == row.asked) != row.wins {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
	t.Run("with an error both are joined", func(t *testing.T) {
		b, p := edited(t, true)
		if _, err := returning(b.ctx, p, reconcile.Result{}, boom); !errors.Is(err, boom) || !apierrors.IsConflict(err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a terminal error is no longer terminal when the status did not land", func(t *testing.T) {
		terminal := reconcile.TerminalError(boom)
		b, p := edited(t, true)
		_, err := returning(b.ctx, p, reconcile.Result{}, terminal)
		if errors.Is(err, reconcile.TerminalError(nil)) || !errors.Is(err, boom) || !strings.Contains(err.Error(), "boom") {
			t.Errorf("%v is terminal, or lost", err)
		}
		b, p = edited(t, false)
		if _, err := returning(b.ctx, p, reconcile.Result{}, terminal); !errors.Is(err, reconcile.TerminalError(nil)) {
			t.Errorf("control: %v is not terminal though the status landed", err)
		}
	})
	t.Run("on panic nothing is written and the panic goes on", func(t *testing.T) {
		b, p := edited(t, false)
		sent := b.wire.during(func() {
			defer func() {
				if recover() != "out of memory" {
					t.Error("the panic did not go on")
				}
			}()
			func() (result reconcile.Result, err error) {
				defer p.FlushOnReturn(b.ctx, &result, &err)
				panic("out of memory")
			}()
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("control: a plain Flush in a defer writes the half-made status", func(t *testing.T) {
		b, p := edited(t, false)
		func() {
			defer func() { recover() }()
			defer p.Flush(b.ctx)
			panic("out of memory")
		}()
		if b.live().Status.Phase != "Mine" {
			t.Error("nothing was written: the test above proves nothing")
		}
	})
	t.Run("when ctx is done, the write has a context of its own", func(t *testing.T) {
		b, p := edited(t, false)
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		if _, err := p.Flush(ctx); err == nil {
			t.Error("control: Flush under a canceled context succeeded")
		}
		if _, err := returning(ctx, p, reconcile.Result{}, ctx.Err()); !errors.Is(err, context.Canceled) || b.live().Status.Phase != "Mine" {
			t.Errorf("%v, phase %q", err, b.live().Status.Phase)
		}
	})
}
