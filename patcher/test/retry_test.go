package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// mint is the decision that must be made once: evaluated again on the fresh object, it does nothing.
func mint(id string) func(*v1.Cell) error {
	return func(cell *v1.Cell) error {
		if cell.Status.Plan == nil {
			cell.Status.Plan = &v1.Plan{ID: id}
		}
		return nil
	}
}

// once runs f at the first call of mutate: the moment at which another writer gets in between.
func once(f func(), mutate func(*v1.Cell) error) func(*v1.Cell) error {
	done := false
	return func(cell *v1.Cell) error {
		if !done {
			done = true
			f()
		}
		return mutate(cell)
	}
}

func TestS20_TheDecisionIsMadeAgain(t *testing.T) {
	foreignPlan := func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "p-foreign"} }
	t.Run("rule", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		result, err := p.Retry(b.ctx, once(func() { b.forge(foreignPlan) }, mint("p-mine")))
		if err != nil || result != patcher.ResultUnchanged {
			t.Fatalf("Retry: %q, %v", result, err)
		}
		if got := b.live().Status.Plan.ID; got != "p-foreign" || cell.Status.Plan.ID != got {
			t.Errorf("the server has plan %s, the object %s", got, cell.Status.Plan.ID)
		}
	})
	t.Run("control: replaying the diff mints a second plan", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		base := cell.DeepCopy()
		b.must(mint("p-mine")(cell))
		b.forge(foreignPlan)
		b.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			cell.ResourceVersion, base.ResourceVersion = b.live().ResourceVersion, b.live().ResourceVersion
			return b.wire.Status().Patch(b.ctx, cell, lockedMerge(base))
		}))
		if got := b.live().Status.Plan.ID; got != "p-mine" {
			t.Errorf("plan %s: the test above proves nothing", got)
		}
	})
}

// frozenCache is a client whose Get answers what the server had when it was made: a cache that lags.
func frozenCache(b *bed) client.Client {
	cached := b.live()
	return interceptor.NewClient(b.wire, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			cached.DeepCopyInto(obj.(*v1.Cell))
			return nil
		},
	})
}

func TestS21_TheReReadIsLive(t *testing.T) {
	count := func(cell *v1.Cell) error { cell.Status.Counter++; return nil }
	t.Run("rule: a cache that lags costs one conflict and one live read", func(t *testing.T) {
		b := newBed(t)
		cached := frozenCache(b)
		b.forge(phase("Foreign"))
		_, p, err := v1status.NewCellStatusClient(cached, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		sent := b.wire.during(func() {
			if result, err := p.Retry(b.ctx, count); err != nil || result != patcher.ResultPatched {
				t.Errorf("Retry: %q, %v", result, err)
			}
		})
		if got := fmt.Sprint(sent); got != "[patch cells/status get cells patch cells/status]" {
			t.Errorf("sent %v", got)
		}
		if live := b.live().Status; live.Counter != 1 || live.Phase != "Foreign" {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("control: a retry that re-reads the cache fails every try", func(t *testing.T) {
		b := newBed(t)
		cached := frozenCache(b)
		b.forge(phase("Foreign"))
		tries := 0
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			tries++
			cell := &v1.Cell{}
			b.must(cached.Get(b.ctx, b.key, cell))
			base := cell.DeepCopy()
			b.must(count(cell))
			return cached.Status().Patch(b.ctx, cell, lockedMerge(base))
		})
		if !apierrors.IsConflict(err) || tries != retry.DefaultRetry.Steps {
			t.Errorf("%d tries, %v: the test above proves nothing", tries, err)
		}
	})
}

func TestS22_RetryStopsOnAnotherObject(t *testing.T) {
	ready := func(cell *v1.Cell) error { cell.Status.Phase = "Ready"; return nil }
	withFinalizer := func(c *v1.Cell) { c.Finalizers = []string{"example.com/f"} }
	replace := func(b *bed) {
		b.must(b.wire.Delete(b.ctx, b.live()))
		b.must(b.wire.Create(b.ctx, &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: b.key.Name}}))
	}
	newSpec := func(b *bed) { b.mutate(func(c *v1.Cell) { c.Spec.Image = "image:2" }) }
	remove := func(b *bed) { b.must(b.wire.Delete(b.ctx, b.live())) }
	for _, row := range []struct {
		name    string
		prepare func(*v1.Cell)
		between func(*bed)
		opts    []patcher.RetryOption
		want    error
	}{
		{"another UID", nil, replace, nil, patcher.ErrReplaced},
		{"another generation", nil, newSpec, nil, patcher.ErrGenerationChanged},
		{"another generation, allowed", nil, newSpec, []patcher.RetryOption{patcher.AllowNewerGeneration()}, nil},
		{"being deleted", withFinalizer, remove, nil, patcher.ErrDeleting},
		{"being deleted, allowed: the generation that deletion moved counts as deletion only", withFinalizer, remove,
			[]patcher.RetryOption{patcher.AllowDeleting()}, nil},
		{"a new spec and then deleted", withFinalizer, func(b *bed) { newSpec(b); remove(b) },
			[]patcher.RetryOption{patcher.AllowDeleting()}, patcher.ErrGenerationChanged},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			if row.prepare != nil {
				b.mutate(row.prepare)
			}
			cell, p := b.fetch()
			before := cell.DeepCopy()
			_, err := p.Retry(b.ctx, once(func() { row.between(b) }, ready), row.opts...)
			if !errors.Is(err, row.want) {
				t.Fatalf("Retry: %v, want %v", err, row.want)
			}
			landed := b.live().Status.Phase == "Ready"
			if landed != (row.want == nil) {
				t.Errorf("landed: %v", landed)
			}
			if row.want != nil && !reflect.DeepEqual(before, cell) {
				t.Error("the caller's object changed")
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		if _, err := p.Retry(b.ctx, once(func() { remove(b) }, ready)); !apierrors.IsNotFound(err) {
			t.Errorf("Retry: %v, want NotFound", err)
		}
	})
	t.Run("the StatusClient's Retry decided nothing before, and has no generation check", func(t *testing.T) {
		b := newBed(t)
		result, err := b.statuses().Retry(b.ctx, b.key, once(func() { newSpec(b) }, ready))
		if err != nil || result != patcher.ResultPatched {
			t.Errorf("Retry: %q, %v", result, err)
		}
	})
	t.Run("control: RetryOnConflict stamps the new object", func(t *testing.T) {
		b := newBed(t)
		decided := b.live()
		replace(b)
		b.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			cell := b.live()
			cell.Status.ObservedGeneration = decided.Generation
			return b.wire.Status().Update(b.ctx, cell)
		}))
		if b.live().Status.ObservedGeneration != decided.Generation {
			t.Error("the stamp did not land: the test above proves nothing")
		}
	})
}

// stopwatch is a clock that waits for nothing and keeps what it was asked to wait for.
type stopwatch struct{ waits []time.Duration }

func (s *stopwatch) Now() time.Time { return time.Unix(1700000000, 0) }

func (s *stopwatch) After(d time.Duration) <-chan time.Time {
	s.waits = append(s.waits, d)
	now := make(chan time.Time, 1)
	now <- s.Now()
	return now
}

func TestS23_BoundedAttempts(t *testing.T) {
	contended := func(b *bed) func(*v1.Cell) error {
		return func(cell *v1.Cell) error {
			b.forge(func(s *v1.CellStatus) { s.Counter++ })
			cell.Status.Phase = "Mine"
			return nil
		}
	}
	full := patcher.WithJitter(func() float64 { return 1 })
	t.Run("rule: the last conflict, after backoff that grows", func(t *testing.T) {
		b, clock := newBed(t), &stopwatch{}
		_, p := b.fetch(patcher.WithClock(clock), full)
		_, err := p.Retry(b.ctx, contended(b), patcher.Attempts(4))
		var conflict *patcher.ConflictError
		if !apierrors.IsConflict(err) || !errors.As(err, &conflict) || conflict.Attempts != 4 {
			t.Fatalf("Retry: %v", err)
		}
		want := []time.Duration{time.Millisecond, 1500 * time.Microsecond, 2250 * time.Microsecond}
		if !reflect.DeepEqual(clock.waits, want) {
			t.Errorf("waited %v, want %v", clock.waits, want)
		}
	})
	t.Run("rule: backoff ends with the context", func(t *testing.T) {
		b := newBed(t)
		ctx, cancel := context.WithCancel(b.ctx)
		_, p := b.fetch(patcher.WithClock(never{cancel}))
		_, err := p.Retry(ctx, contended(b))
		if !errors.Is(err, context.Canceled) || !apierrors.IsConflict(err) {
			t.Errorf("Retry: %v", err)
		}
	})
	t.Run("control: without contention there is no wait", func(t *testing.T) {
		b, clock := newBed(t), &stopwatch{}
		_, p := b.fetch(patcher.WithClock(clock), full)
		if _, err := p.Retry(b.ctx, mint("p-1")); err != nil || len(clock.waits) > 0 {
			t.Errorf("waited %v, %v", clock.waits, err)
		}
	})
}

// never is a clock that cancels the context as soon as somebody waits, and never wakes him.
type never struct{ cancel context.CancelFunc }

func (never) Now() time.Time { return time.Unix(1700000000, 0) }

func (n never) After(time.Duration) <-chan time.Time {
	n.cancel()
	return nil
}

func TestS24_PendingChangesAreNotLost(t *testing.T) {
	for name, edit := range map[string]func(*v1.Cell){
		"status":     func(c *v1.Cell) { c.Status.Phase = "Pending" },
		"label":      func(c *v1.Cell) { c.Labels["pending"] = "yes" },
		"annotation": func(c *v1.Cell) { delete(c.Annotations, "note") },
		"finalizer":  func(c *v1.Cell) { c.Finalizers = append(c.Finalizers, "example.com/f") },
		"owner": func(c *v1.Cell) {
			c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{Name: "o", UID: "u"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			cell, p := b.fetch()
			edit(cell)
			want := cell.DeepCopy()
			if _, err := p.Retry(b.ctx, mint("p-1")); !errors.Is(err, patcher.ErrPendingChanges) {
				t.Errorf("Retry: %v, want ErrPendingChanges", err)
			}
			if !reflect.DeepEqual(cell, want) {
				t.Error("the pending change is gone")
			}
		})
	}
	t.Run("control: with nothing pending it goes on", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		if _, err := p.Retry(b.ctx, mint("p-1")); err != nil {
			t.Error(err)
		}
	})
}

func TestS25_AMutateThatFailsChangesNothing(t *testing.T) {
	refuse := errors.New("refused")
	b := newBed(t)
	cell, p := b.fetch()
	before := cell.DeepCopy()
	tries := 0
	sent := b.wire.during(func() {
		_, err := p.Retry(b.ctx, func(c *v1.Cell) error {
			tries++
			c.Status.Phase = "Half"
			c.Labels["half"] = "yes"
			return refuse
		})
		if !errors.Is(err, refuse) {
			t.Errorf("Retry: %v", err)
		}
	})
	if tries != 1 || len(sent) != 0 || !reflect.DeepEqual(before, cell) || p.Changed() {
		t.Errorf("%d tries, sent %v, object %+v", tries, sent, cell)
	}
	if got := b.live(); !reflect.DeepEqual(got.Status, before.Status) {
		t.Errorf("the server has %+v", got.Status)
	}
	t.Run("control: a retry on the caller's own object leaves the half-made edit in it", func(t *testing.T) {
		naive := before.DeepCopy()
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			naive.Status.Phase = "Half"
			return refuse
		})
		if !errors.Is(err, refuse) || reflect.DeepEqual(before, naive) {
			t.Errorf("%v: the test above proves nothing", err)
		}
	})
}

func TestS25_AConflictThatMutateReturnsIsNotRetried(t *testing.T) {
	b, other := newBed(t), newBed(t)
	cell, p := b.fetch()
	foreign, q := other.fetch()
	other.forge(phase("Foreign"))
	foreign.Status.Phase = "Mine"
	tries := 0
	_, err := p.Retry(b.ctx, func(*v1.Cell) error {
		tries++
		_, err := q.Flush(b.ctx)
		return err
	})
	var conflict *patcher.ConflictError
	if tries != 1 || !errors.As(err, &conflict) || conflict.Key != other.key {
		t.Errorf("%d tries of %s, %v", tries, cell.Name, err)
	}
}

func TestS26_AfterwardsTheObjectIsWhatLanded(t *testing.T) {
	t.Run("rule", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		between := func() {
			b.mutate(func(c *v1.Cell) { c.Spec.Image, c.Labels["new"] = "image:2", "yes" })
		}
		if _, err := p.Retry(b.ctx, once(between, mint("p-1")), patcher.AllowNewerGeneration()); err != nil {
			t.Fatal(err)
		}
		if live := b.live(); !reflect.DeepEqual(cell, live) {
			t.Errorf("the object is\n%+v\nthe server has\n%+v", cell, live)
		}
		// Its next write cannot put the old spec under the new resourceVersion.
		b.must(b.wire.Update(b.ctx, cell))
		if got := b.live().Spec.Image; got != "image:2" {
			t.Errorf("image %s", got)
		}
		cell.Status.Phase = "Ready"
		b.must(p.Refresh(b.ctx))
		cell.Status.Phase = "Ready"
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("control: only version and status copied over, and the next Update brings the old spec back", func(t *testing.T) {
		b := newBed(t)
		cell := b.live()
		b.mutate(func(c *v1.Cell) { c.Spec.Image = "image:2" })
		cell.ResourceVersion = b.live().ResourceVersion
		b.must(b.wire.Update(b.ctx, cell))
		if got := b.live().Spec.Image; got != "image:1" {
			t.Errorf("image %s: the test above proves nothing", got)
		}
	})
}

func TestS27_RefreshDiscardsUnsavedEdits(t *testing.T) {
	b := newBed(t, phase("Ready"))
	cell, p := b.fetch()
	cell.Status.Phase, cell.Spec.Image = "Unsaved", "unsaved:1"
	b.forge(phase("Foreign"))
	b.must(p.Refresh(b.ctx))
	if !reflect.DeepEqual(cell, b.live()) || p.Changed() {
		t.Errorf("after Refresh: %+v", cell)
	}
	if p.Observed().Phase != "Foreign" {
		t.Errorf("the base has phase %q", p.Observed().Phase)
	}
	t.Run("control: a Get behind the patcher's back does not move the base", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		b.forge(phase("Foreign"))
		b.must(b.wire.Get(b.ctx, b.key, cell))
		cell.Status.Phase = "Mine"
		if _, err := p.Flush(b.ctx); !errors.Is(err, patcher.ErrStaleBase) {
			t.Errorf("Flush: %v", err)
		}
	})
	t.Run("on an error nothing changes", func(t *testing.T) {
		cell.Status.Phase = "Unsaved"
		canceled, cancel := context.WithCancel(b.ctx)
		cancel()
		if err := p.Refresh(canceled); err == nil || cell.Status.Phase != "Unsaved" {
			t.Errorf("Refresh: %v, phase %q", err, cell.Status.Phase)
		}
	})
}

func TestS28_OwnWritesAreSeen(t *testing.T) {
	lagging := func(b *bed) (*v1status.CellStatusClient, client.Client) {
		cached := frozenCache(b)
		return v1status.NewCellStatusClient(cached, b.wire), cached
	}
	t.Run("rule: after a Flush, a Fetch that gets the superseded version reads live", func(t *testing.T) {
		b := newBed(t)
		statuses, cached := lagging(b)
		cell, p, err := statuses.Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Plan = &v1.Plan{ID: "p-1"}
		b.flush(p, patcher.ResultPatched)
		again, _, err := statuses.Fetch(b.ctx, b.key)
		b.must(err)
		if again.Status.Plan == nil {
			t.Error("the second reconcile does not see the plan of the first")
		}
		stale := &v1.Cell{}
		b.must(cached.Get(b.ctx, b.key, stale))
		if stale.Status.Plan != nil {
			t.Error("control: the cache does not lag, so nothing is proved")
		}
	})
	t.Run("rule: so does one after a conflict", func(t *testing.T) {
		b := newBed(t)
		statuses, _ := lagging(b)
		b.forge(phase("Foreign"))
		cell, p, err := statuses.Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase = "Mine"
		if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
			t.Fatalf("Flush: %v", err)
		}
		again, _, err := statuses.Fetch(b.ctx, b.key)
		b.must(err)
		if again.Status.Phase != "Foreign" {
			t.Errorf("phase %q from the cache that is known to be stale", again.Status.Phase)
		}
	})
	t.Run("control: a client that wrote nothing believes the cache", func(t *testing.T) {
		b := newBed(t)
		statuses, _ := lagging(b)
		b.forge(phase("Foreign"))
		cell, _, err := statuses.Fetch(b.ctx, b.key)
		b.must(err)
		if cell.Status.Phase != "" {
			t.Error("Fetch read live without a reason")
		}
	})
}

func TestNoLiveReaderSaysSo(t *testing.T) {
	b := newBed(t)
	statuses := v1status.NewCellStatusClient(b.wire, patcher.NoLiveReader)
	cell, p, err := statuses.Fetch(b.ctx, b.key)
	b.must(err)
	for name, call := range map[string]func() error{
		"patcher": func() error { _, err := p.Retry(b.ctx, mint("p-1")); return err },
		"client":  func() error { _, err := statuses.Retry(b.ctx, b.key, mint("p-1")); return err },
		"refresh": func() error { return p.Refresh(b.ctx) },
	} {
		if err := call(); !errors.Is(err, patcher.ErrNoLiveReader) {
			t.Errorf("%s: %v, want ErrNoLiveReader", name, err)
		}
	}
	cell.Status.Phase = "Ready"
	b.flush(p, patcher.ResultPatched)
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "RebaseOnConflict") {
			t.Errorf("panicked with %q", text)
		}
	}()
	v1status.NewCellStatusClient(b.wire, patcher.NoLiveReader, patcher.RebaseOnConflict())
}
