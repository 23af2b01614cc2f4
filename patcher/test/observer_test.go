package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

// seen keeps what an Observer is told.
type seen struct {
	mu  sync.Mutex
	all []patcher.Observation
}

func (s *seen) Observe(_ context.Context, o patcher.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, o)
}

func TestS40_TheObserverIsToldOfEveryCall(t *testing.T) {
	b, observer := newBed(t), &seen{}
	statuses := b.statuses(patcher.WithObserver(observer), patcher.WithClock(&stopwatch{}))
	cell, p, err := statuses.Fetch(b.ctx, b.key)
	b.must(err)

	b.flush(p, patcher.ResultUnchanged)
	cell.Status.Phase = "Ready"
	b.flush(p, patcher.ResultPatched)
	b.patchMetadata(p, addFinalizer)
	_, err = p.Retry(b.ctx, once(func() { b.forge(phase("Foreign")) }, mint("p-1")))
	b.must(err)
	refuse := errors.New("refused")
	_, err = statuses.Retry(b.ctx, b.key, func(*v1.Cell) error { return refuse })
	if !errors.Is(err, refuse) {
		t.Error(err)
	}
	b.forge(phase("Foreign again"))
	cell.Status.Phase = "Mine"
	_, err = p.Flush(b.ctx)
	if err == nil {
		t.Error("no conflict")
	}
	cell.ResourceVersion = "1"
	_, err = p.Flush(b.ctx)
	if !errors.Is(err, patcher.ErrStaleBase) {
		t.Error(err)
	}

	want := []patcher.Observation{
		{Operation: patcher.OperationFlush, Result: patcher.ResultUnchanged},
		{Operation: patcher.OperationFlush, Result: patcher.ResultPatched, Attempts: 1},
		{Operation: patcher.OperationPatchMetadata, Result: patcher.ResultPatched, Attempts: 1},
		{Operation: patcher.OperationRetry, Result: patcher.ResultPatched, Attempts: 2, Conflicts: 1},
		{Operation: patcher.OperationRetry, Error: patcher.ErrorOther},
		{Operation: patcher.OperationFlush, Error: patcher.ErrorConflict, Attempts: 1, Conflicts: 1},
		{Operation: patcher.OperationFlush, Error: patcher.ErrorMisuse},
	}
	for i := range want {
		want[i].Kind, want[i].Key = "Cell", b.key
	}
	if got := fmt.Sprint(observer.all); got != fmt.Sprint(want) {
		t.Errorf("told\n%+v\nwant\n%+v", observer.all, want)
	}
	t.Run("control: it is told of its own client only", func(t *testing.T) {
		_, q := b.fetch()
		b.flush(q, patcher.ResultUnchanged)
		if len(observer.all) != len(want) {
			t.Errorf("told of %d calls, want %d", len(observer.all), len(want))
		}
	})
}

func TestOnFlushedTellsOnlyWhatLanded(t *testing.T) {
	b := newBed(t, phase("Old"))
	cell, p := b.fetch()
	var told []string
	p.OnFlushed(func(before, after *v1.CellStatus) {
		told = append(told, before.Phase+">"+after.Phase)
		before.Phase, after.Phase = "edited", "edited"
	})
	b.flush(p, patcher.ResultUnchanged)
	cell.Status.Phase = "New"
	b.flush(p, patcher.ResultPatched)
	_, err := p.Retry(b.ctx, once(func() { b.forge(phase("Foreign")) }, func(c *v1.Cell) error {
		c.Status.Phase += "+"
		return nil
	}))
	b.must(err)
	b.forge(phase("Foreign again"))
	cell.Status.Phase = "Lost"
	if _, err := p.Flush(b.ctx); err == nil {
		t.Fatal("no conflict")
	}
	if got := fmt.Sprint(told); got != "[Old>New Foreign>Foreign+]" {
		t.Errorf("told %s", got)
	}
	if cell.Status.Phase != "Lost" || p.Observed().Phase != "Foreign+" {
		t.Errorf("the callback's edits reached the object or the base: %q, %q", cell.Status.Phase, p.Observed().Phase)
	}
}

func TestS43_AStatusClientIsSafeForConcurrentUse(t *testing.T) {
	b := newBed(t)
	statuses := b.statuses(patcher.WithObserver(&seen{}))
	var wg sync.WaitGroup
	for writer := range 8 {
		wg.Go(func() {
			_, err := statuses.Retry(b.ctx, b.key, func(c *v1.Cell) error {
				c.Status.Writers = append(c.Status.Writers, fmt.Sprint(writer))
				return nil
			}, patcher.Attempts(50))
			if err != nil {
				t.Error(err)
			}
			cell, p, err := statuses.Fetch(b.ctx, b.key)
			if err != nil {
				t.Error(err)
				return
			}
			cell.Status.Counter = int64(writer)
			p.SetCondition(metav1.Condition{Type: "Ready", Status: "True", Reason: "Done"})
			if _, err := p.Flush(b.ctx); err != nil {
				_, err = patcher.RequeueOnConflict(err)
				b.must(err)
			}
		})
	}
	wg.Wait()
	if got := len(b.live().Status.Writers); got != 8 {
		t.Errorf("%d writers landed, want 8", got)
	}
	t.Run("control: eight blind merges that read the same state leave one writer", func(t *testing.T) {
		b := newBed(t)
		read := b.live()
		var wg sync.WaitGroup
		for writer := range 8 {
			wg.Go(func() {
				cell := read.DeepCopy()
				cell.Status.Writers = append(cell.Status.Writers, fmt.Sprint(writer))
				if err := b.wire.Status().Patch(b.ctx, cell, blindMerge(read)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := len(b.live().Status.Writers); got != 1 {
			t.Errorf("%d writers landed: the test above proves nothing", got)
		}
	})
}
