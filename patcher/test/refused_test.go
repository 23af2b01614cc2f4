package patcher_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// S51: a base that the API server has refused is not sent again.
func TestS51_ARefusedBaseIsNotSentAgain(t *testing.T) {
	refused := func(t *testing.T) (*bed, *v1.Cell, *v1status.CellStatusPatcher, error) {
		b := newBed(t)
		cell, p := b.fetch(patcher.WithJitter(func() float64 { return 1 }))
		b.forge(phase("Foreign"))
		cell.Status.Counter = 1
		_, err := p.Flush(b.ctx)
		if !apierrors.IsConflict(err) {
			t.Fatalf("Flush: %v", err)
		}
		return b, cell, p, err
	}
	t.Run("rule: the same error, with the same delay, without a request", func(t *testing.T) {
		b, cell, p, err := refused(t)
		first, _ := patcher.RequeueOnConflict(err)
		cell.Status.Counter = 2
		sent := b.wire.during(func() {
			for range 3 {
				_, again := p.Flush(b.ctx)
				if result, _ := patcher.RequeueOnConflict(again); again != err || result != first {
					t.Errorf("%v after %v, %v after %v", again, err, result, first)
				}
			}
			if _, again := p.PatchMetadata(b.ctx, addFinalizer); again != err {
				t.Errorf("PatchMetadata: %v", again)
			}
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("rule: with nothing to send it returns nil", func(t *testing.T) {
		b, _, p, _ := refused(t)
		p.Discard()
		b.flush(p, patcher.ResultUnchanged)
	})
	t.Run("rule: Refresh clears it", func(t *testing.T) {
		b, cell, p, _ := refused(t)
		b.must(p.Refresh(b.ctx))
		cell.Status.Counter = 2
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("rule: Retry goes on from a live read, and clears it", func(t *testing.T) {
		b, cell, p, _ := refused(t)
		p.Discard()
		sent := b.wire.during(func() {
			_, err := p.Retry(b.ctx, func(c *v1.Cell) error { c.Status.Counter = 5; return nil })
			b.must(err)
		})
		if len(sent) != 2 || sent[0].String() != "get cells" {
			t.Errorf("sent %v, want a read and a patch", sent)
		}
		cell.Status.Counter = 6
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("rule: a deferred FlushOnReturn adds nothing to the error that the reconcile returns", func(t *testing.T) {
		b, _, p, err := refused(t)
		sent := b.wire.during(func() {
			_, returned := returning(b.ctx, p, reconcile.Result{}, err)
			if returned != err {
				t.Errorf("returned %v, want %v", returned, err)
			}
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("rule: nor to that of a status that is invalid", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}}
		_, err := p.Flush(b.ctx)
		if !apierrors.IsInvalid(err) {
			t.Fatalf("Flush: %v", err)
		}
		sent := b.wire.during(func() {
			if _, returned := returning(b.ctx, p, reconcile.Result{}, err); returned != err {
				t.Errorf("returned %v", returned)
			}
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
		cell.Status.Conditions[0].Reason = "Fixed"
		if _, returned := returning(b.ctx, p, reconcile.Result{}, err); returned != err || b.live().Status.Conditions == nil {
			t.Errorf("returned %v: the status that is valid now was not sent", returned)
		}
	})
	t.Run("rule: Flush of an object, until a newer version is read", func(t *testing.T) {
		b := newBed(t)
		clock := &fakeClock{now: time.Unix(1700000000, 0)}
		statuses, cell := b.statuses(patcher.WithJitter(func() float64 { return 1 }), patcher.WithClock(clock)), &v1.Cell{}
		b.must(statuses.Get(b.ctx, b.key, cell))
		b.forge(phase("Foreign"))
		cell.Status.Counter = 1
		_, err := statuses.Flush(b.ctx, cell)
		sent := b.wire.during(func() {
			if _, again := statuses.Flush(b.ctx, cell); again != err || !apierrors.IsConflict(err) {
				t.Errorf("%v after %v", again, err)
			}
			clock.After(time.Second)
			_, later := statuses.Flush(b.ctx, cell)
			if result, quiet := patcher.RequeueOnConflict(later); quiet != nil || result.RequeueAfter != 40*time.Millisecond {
				t.Errorf("in a later reconcile %v, %v: the delay does not grow", result, quiet)
			}
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
		b.must(statuses.Get(b.ctx, b.key, cell))
		cell.Status.Counter = 1
		if _, err := statuses.Flush(b.ctx, cell); err != nil {
			t.Errorf("after Get: %v", err)
		}
	})
	t.Run("rule: a conflict whose live read failed may be sent again", func(t *testing.T) {
		b := newBed(t)
		down := true
		live := interceptor.NewClient(b.wire, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				if down {
					return errors.New("down")
				}
				return c.Get(ctx, key, obj, opts...)
			},
		})
		cell, p, err := v1status.NewCellStatusClient(b.wire, live, patcher.RebaseOnConflict()).Fetch(b.ctx, b.key)
		b.must(err)
		b.mutate(addFinalizer)
		cell.Status.Phase = "Mine"
		if _, err := p.Flush(b.ctx); !apierrors.IsConflict(err) {
			t.Fatalf("Flush: %v", err)
		}
		down = false
		b.flush(p, patcher.ResultRebased)
	})
	t.Run("control: a webhook's denial with code 409 is not a conflict, and may be sent again", func(t *testing.T) {
		b := newBed(t)
		denied := true
		c := interceptor.NewClient(b.wire, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				if denied {
					return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict,
						Message: `admission webhook "v.example.com" denied the request: maintenance`}}
				}
				return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
			},
		})
		cell, p, err := v1status.NewCellStatusClient(c, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase = "Mine"
		var conflict *patcher.ConflictError
		_, err = p.Flush(b.ctx)
		if _, loud := patcher.RequeueOnConflict(err); loud == nil || errors.As(err, &conflict) || !strings.Contains(err.Error(), "maintenance") {
			t.Errorf("Flush: %v", err)
		}
		denied = false
		b.flush(p, patcher.ResultPatched)
	})
}

// S35: a reconcile that conflicts while it writes a finalizer, and whose deferred flush has nothing to send.
func TestS35_TheDelayGrowsThoughTheDeferredFlushHasNothingToSend(t *testing.T) {
	b := newBed(t)
	statuses := b.statuses(patcher.WithJitter(func() float64 { return 1 }))
	reconcileOnce := func() (result reconcile.Result, err error) {
		_, p, err := statuses.Fetch(b.ctx, b.key)
		b.must(err)
		b.forge(func(s *v1.CellStatus) { s.Counter++ })
		defer p.FlushOnReturn(b.ctx, &result, &err)
		if _, err := p.PatchMetadata(b.ctx, func(c *v1.Cell) { c.Labels["reconciled"] = "yes" }); err != nil {
			return patcher.RequeueOnConflict(err)
		}
		return result, nil
	}
	want := 20 * time.Millisecond
	for range 7 {
		if result, err := reconcileOnce(); err != nil || result.RequeueAfter != want {
			t.Fatalf("%+v, %v, want %v", result, err, want)
		}
		want = min(2*want, 2*time.Second)
	}
}

// succeeding runs a reconcile that ends with failed, and flushes in a defer if it did not fail.
func succeeding(ctx context.Context, p *v1status.CellStatusPatcher, failed error) (result reconcile.Result, err error) {
	defer p.FlushOnSuccess(ctx, &result, &err)
	return reconcile.Result{}, failed
}

// S52: FlushOnSuccess.
func TestS52_FlushOnSuccess(t *testing.T) {
	boom := errors.New("boom")
	edited := func(t *testing.T) (*bed, *v1status.CellStatusPatcher) {
		b := newBed(t, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "p"} })
		cell, p := b.fetch()
		cell.Status.Plan = nil // a step is done in memory, before what can fail
		return b, p
	}
	for name, failed := range map[string]error{"an error": boom, "a terminal error": reconcile.TerminalError(boom)} {
		t.Run("rule: "+name+": nothing is written", func(t *testing.T) {
			b, p := edited(t)
			if _, err := succeeding(b.ctx, p, failed); err != failed || b.live().Status.Plan == nil {
				t.Errorf("%v, plan %v", err, b.live().Status.Plan)
			}
		})
	}
	t.Run("rule: a panic: nothing is written, and it goes on", func(t *testing.T) {
		b, p := edited(t)
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic did not go on")
				}
			}()
			func() (result reconcile.Result, err error) {
				defer p.FlushOnSuccess(b.ctx, &result, &err)
				panic("boom")
			}()
		}()
		if b.live().Status.Plan == nil {
			t.Error("it was written")
		}
	})
	t.Run("rule: success: it lands", func(t *testing.T) {
		b, p := edited(t)
		if _, err := succeeding(b.ctx, p, nil); err != nil || b.live().Status.Plan != nil {
			t.Errorf("%v, plan %v", err, b.live().Status.Plan)
		}
	})
	t.Run("rule: success, and a conflict: a quiet requeue", func(t *testing.T) {
		b, p := edited(t)
		b.forge(phase("Foreign"))
		if result, err := succeeding(b.ctx, p, nil); err != nil || result.RequeueAfter == 0 {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("control: FlushOnReturn writes that the step is done, which it is not", func(t *testing.T) {
		b, p := edited(t)
		if _, err := returning(b.ctx, p, reconcile.Result{}, boom); err != boom || b.live().Status.Plan != nil {
			t.Errorf("%v, plan %v: the rule proves nothing", err, b.live().Status.Plan)
		}
	})
}

// S53: Discard.
func TestS53_Discard(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "p"} })
	cell, p := b.fetch()
	cell.Status.Plan.ID, cell.Status.Phase = "edited", "edited"
	cell.Spec.Image = "unsaved"
	sent := b.wire.during(func() {
		p.Discard()
		b.flush(p, patcher.ResultUnchanged)
	})
	if len(sent) != 0 || p.Changed() || cell.Status.Plan.ID != "p" || cell.Status.Phase != "" || cell.Spec.Image != "unsaved" {
		t.Errorf("sent %v; the object is %+v", sent, cell)
	}
	cell.Status.Plan.ID = "later"
	b.flush(p, patcher.ResultPatched)
	if got := p.Observed().Plan.ID; got != "later" {
		t.Errorf("the base has %q", got)
	}
	t.Run("control: without it the edits are written", func(t *testing.T) {
		cell.Status.Phase = "edited"
		b.flush(p, patcher.ResultPatched)
	})
}

// S54: an object that is gone when the reconcile returns.
func TestS54_GoneOnReturn(t *testing.T) {
	edited := func(t *testing.T) (*bed, *v1status.CellStatusPatcher) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Phase = "Mine"
		b.must(b.wire.Delete(b.ctx, b.live()))
		return b, p
	}
	t.Run("rule: there is nothing left to report", func(t *testing.T) {
		b, p := edited(t)
		if result, err := returning(b.ctx, p, reconcile.Result{}, nil); err != nil || result.RequeueAfter != 0 {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("rule: another error is returned as it is", func(t *testing.T) {
		b, p := edited(t)
		boom := errors.New("boom")
		if _, err := returning(b.ctx, p, reconcile.Result{}, boom); err != boom {
			t.Errorf("%v", err)
		}
	})
	t.Run("rule: Flush returns the NotFound", func(t *testing.T) {
		b, p := edited(t)
		if _, err := p.Flush(b.ctx); !apierrors.IsNotFound(err) || client.IgnoreNotFound(err) != nil {
			t.Errorf("%v", err)
		}
	})
	t.Run("rule: without a live reader, an object that was being deleted is gone", func(t *testing.T) {
		b := newBed(t)
		b.mutate(addFinalizer)
		b.must(b.wire.Delete(b.ctx, b.live()))
		cell, p, err := v1status.NewCellStatusClient(b.wire, patcher.NoLiveReader).Fetch(b.ctx, b.key)
		b.must(err)
		b.patchMetadata(p, func(c *v1.Cell) { c.Finalizers = nil })
		cell.Status.Phase = "Mine"
		b.flush(p, patcher.ResultGone)
	})
	t.Run("rule: without a live reader, any other 404 is a NotFound, and not a mistake of the caller's", func(t *testing.T) {
		b := newBed(t)
		cell, p, err := v1status.NewCellStatusClient(b.wire, patcher.NoLiveReader).Fetch(b.ctx, b.key)
		b.must(err)
		b.must(b.wire.Delete(b.ctx, b.live()))
		cell.Status.Phase = "Mine"
		if _, err := p.Flush(b.ctx); !apierrors.IsNotFound(err) || errors.Is(err, patcher.ErrNoLiveReader) {
			t.Errorf("Flush: %v", err)
		}
	})
	t.Run("control: a 404 because the kind is not served stays an error", func(t *testing.T) {
		b := newBed(t)
		unserved := func() error {
			return apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", schema.GroupResource{Resource: "cells"}, "a", "404 page not found", 0, true)
		}
		c := interceptor.NewClient(b.wire, interceptor.Funcs{
			SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
				return unserved()
			},
		})
		live := interceptor.NewClient(b.wire, interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return unserved()
			},
		})
		cell, p, err := v1status.NewCellStatusClient(c, live).Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase = "Mine"
		if _, err := returning(b.ctx, p, reconcile.Result{}, nil); !apierrors.IsNotFound(err) {
			t.Errorf("%v: a CRD that is not installed looks like success", err)
		}
	})
}

// S36: what FlushOnReturn was promised to do, and did not.
func TestS36_GraceAndMissingResults(t *testing.T) {
	t.Run("rule: a context that ends during the write gives it five more seconds", func(t *testing.T) {
		b := newBed(t)
		ctx, cancel := context.WithCancel(b.ctx)
		defer cancel()
		c := interceptor.NewClient(b.wire, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				cancel()
				<-time.After(10 * time.Millisecond)
				return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
			},
		})
		cell, p, err := v1status.NewCellStatusClient(c, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase = "Mine"
		if _, err := returning(ctx, p, reconcile.Result{}, nil); err != nil || b.live().Status.Phase != "Mine" {
			t.Errorf("%v, phase %q", err, b.live().Status.Phase)
		}
	})
	t.Run("control: a plain Flush has none", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Phase = "Mine"
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		if _, err := p.Flush(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Flush: %v", err)
		}
	})
	t.Run("rule: without a result, a conflict is an error", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		b.forge(phase("Foreign"))
		cell.Status.Phase = "Mine"
		err := func() (err error) {
			defer p.FlushOnReturn(b.ctx, nil, &err)
			return nil
		}()
		if !apierrors.IsConflict(err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("rule: without a place for the error it panics at once, not at the first conflict", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, "name its results") {
				t.Errorf("panicked with %q", text)
			}
		}()
		p.FlushOnReturn(b.ctx, &reconcile.Result{}, nil)
	})
}
