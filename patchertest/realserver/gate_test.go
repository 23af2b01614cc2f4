package realserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// start runs a write and returns its error when it is over.
func start(write func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- write() }()
	return done
}

func TestGateHoldsAStatusWriteUntilItIsReleased(t *testing.T) {
	budget := createBudget(t)
	gate := realserver.NewGate(t, realserver.StatusWrites())
	c := server.Client(t, scheme.Scheme, gate.Wrap)
	ctx := bounded(t)
	done := start(func() error { return allow(ctx, c, budget, 3, true) })
	held, err := gate.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if held.Request.String() != "patch poddisruptionbudgets/status" || held.Request.ResourceVersion() != budget.ResourceVersion {
		t.Errorf("held %+v", held.Request)
	}
	select { // it blocks: neither is it over, nor has the server seen it, however long that takes
	case err := <-done:
		t.Fatalf("the write was not held, and returned %v", err)
	case <-held.Done():
		t.Fatal("the request was not held")
	case <-brief(t).Done():
	}
	if now := live(t, budget); now.ResourceVersion != budget.ResourceVersion {
		t.Fatalf("the server has seen the write: resourceVersion %s, was %s", now.ResourceVersion, budget.ResourceVersion)
	}
	held.Release()
	held.Release() // does nothing
	<-held.Done()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := live(t, budget).Status.DisruptionsAllowed; got != 3 {
		t.Errorf("the released write did not land: %d", got)
	}
}

// The race that the project exists for, in a fixed order: both have decided on the same read, the second to be let go loses.
func TestGateOrdersTwoWritersThatReadTheSame(t *testing.T) {
	for name, lock := range map[string]bool{"under the lock": true, "blind": false} {
		t.Run(name, func(t *testing.T) {
			budget := createBudget(t)
			gate := realserver.NewGate(t, realserver.StatusWrites())
			c, ctx := server.Client(t, scheme.Scheme, gate.Wrap), bounded(t)
			write := func(pods int32) (*realserver.Held, <-chan error) {
				done := start(func() error { return allow(ctx, c, budget, pods, lock) })
				held, err := gate.Next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return held, done
			}
			first, firstDone := write(1)
			second, secondDone := write(2)
			second.Release()
			if err := <-secondDone; err != nil {
				t.Fatal(err)
			}
			first.Release()
			err := <-firstDone
			if lock && !apierrors.IsConflict(err) || !lock && err != nil {
				t.Errorf("the later write returned %v", err)
			}
			want := map[bool]int32{true: 2, false: 1}[lock] // blind, the second's decision is lost
			if got := live(t, budget).Status.DisruptionsAllowed; got != want {
				t.Errorf("status is %d, want %d", got, want)
			}
		})
	}
}

func TestGateNextNamesWhatPassedWhenNothingIsHeld(t *testing.T) {
	budget := createBudget(t)
	gate := realserver.NewGate(t, realserver.StatusWrites("deployments"))
	c := server.Client(t, scheme.Scheme, gate.Wrap)
	if err := allow(bounded(t), c, budget, 1, true); err != nil {
		t.Fatal(err)
	}
	_, err := gate.Next(brief(t))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "patch poddisruptionbudgets/status") {
		t.Errorf("got %v", err)
	}
}

func TestGateForgetsARequestWhoseClientGaveUp(t *testing.T) {
	budget := createBudget(t)
	gate := realserver.NewGate(t, realserver.StatusWrites())
	c := server.Client(t, scheme.Scheme, gate.Wrap)
	if err := allow(brief(t), c, budget, 1, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if held, err := gate.Next(brief(t)); err == nil {
		t.Errorf("still holds %s", held.Request)
	}
	if now := live(t, budget); now.ResourceVersion != budget.ResourceVersion {
		t.Error("the write was sent all the same")
	}
}

func TestGateOpenLetsEverythingThrough(t *testing.T) {
	budget := createBudget(t)
	gate := realserver.NewGate(t, realserver.StatusWrites())
	var c client.Client = server.Client(t, scheme.Scheme, gate.Wrap)
	ctx := bounded(t)
	done := start(func() error { return allow(ctx, c, budget, 1, false) })
	if _, err := gate.Next(ctx); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := allow(ctx, c, budget, 2, false); err != nil {
		t.Fatal(err)
	}
}
