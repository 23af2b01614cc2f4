package realserver_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) && errors.As(err, &timeout) && timeout.Timeout()
}

// Each answer, before and after the commit: the author is told the same, and the server has or has not the write.
func TestFaultAnswers(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer realserver.Answer
		is     func(error) bool
	}{
		{"conflict", realserver.Conflict(), apierrors.IsConflict},
		{"internal error", realserver.InternalError(), apierrors.IsInternalError},
		{"gateway timeout", realserver.GatewayTimeout(), apierrors.IsTimeout},
		{"connection reset", realserver.ConnectionReset(), isReset},
		{"timeout", realserver.Timeout(), isTimeout},
	} {
		for when, opts := range map[string][]realserver.FaultOption{"before": nil, "after": {realserver.AfterCommit()}} {
			t.Run(row.name+" "+when, func(t *testing.T) {
				budget := createBudget(t)
				fault := realserver.NewFault(realserver.StatusWrites(), row.answer, opts...)
				c := server.Client(t, scheme.Scheme, fault.Wrap)
				if err := allow(bounded(t), c, budget, 3, true); !row.is(err) {
					t.Errorf("got %v", err)
				}
				if fault.Hits() != 1 {
					t.Errorf("struck %d times, want once", fault.Hits())
				}
				if committed := live(t, budget).Status.DisruptionsAllowed == 3; committed != (when == "after") {
					t.Errorf("committed: %t", committed)
				}
				if err := allow(bounded(t), c, live(t, budget), 4, true); err != nil {
					t.Errorf("the second write, which the fault does not mean: %v", err)
				}
			})
		}
	}
}

// client-go tries again after a 429 by itself; before and after the commit differ in what it then gets.
func TestFaultTooManyRequests(t *testing.T) {
	for when, opts := range map[string][]realserver.FaultOption{"before": {realserver.Times(2)}, "after": {realserver.AfterCommit()}} {
		t.Run(when, func(t *testing.T) {
			budget := createBudget(t)
			fault := realserver.NewFault(realserver.StatusWrites(), realserver.TooManyRequests(0), opts...)
			recorder := &realserver.Recorder{}
			c := server.Client(t, scheme.Scheme, recorder.Wrap, fault.Wrap)
			err := allow(bounded(t), c, budget, 3, true)
			var codes []int
			for _, r := range recorder.Requests() {
				codes = append(codes, r.Code)
			}
			want := []int{429, 429, 200}
			if when == "after" {
				want = []int{429, 409} // the write itself is what the second try conflicts with
			}
			if diff := cmp.Diff(want, codes); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if apierrors.IsConflict(err) != (when == "after") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFaultTellsHowLongToWait(t *testing.T) {
	resp, err := realserver.TooManyRequests(1500 * time.Millisecond)(realserver.Request{})
	if err != nil || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("got %v, %v", resp, err)
	}
}

func TestFaultSparesWhatItDoesNotMean(t *testing.T) {
	budget := createBudget(t)
	for name, match := range map[string]realserver.Match{
		"another verb":        realserver.Requests("update", "poddisruptionbudgets/status"),
		"another resource":    realserver.Requests("patch", "deployments/status"),
		"another subresource": realserver.Requests("patch", "poddisruptionbudgets"),
	} {
		fault := realserver.NewFault(match, realserver.InternalError(), realserver.Times(-1))
		if err := allow(bounded(t), server.Client(t, scheme.Scheme, fault.Wrap), budget, 1, false); err != nil || fault.Hits() != 0 {
			t.Errorf("%s: struck %d times, %v", name, fault.Hits(), err)
		}
	}
}

func TestFaultAfterCommitWaitsForAWriteThatIsCommitted(t *testing.T) {
	budget := createBudget(t)
	if err := allow(bounded(t), server.Client(t, scheme.Scheme), budget, 1, true); err != nil {
		t.Fatal(err)
	}
	fault := realserver.NewFault(realserver.StatusWrites(), realserver.Timeout(), realserver.AfterCommit())
	c := server.Client(t, scheme.Scheme, fault.Wrap)
	if err := allow(bounded(t), c, budget, 2, true); !apierrors.IsConflict(err) || fault.Hits() != 0 {
		t.Errorf("a refused write: got %v, struck %d times", err, fault.Hits())
	}
	if err := allow(bounded(t), c, live(t, budget), 2, true); !isTimeout(err) || fault.Hits() != 1 {
		t.Errorf("a committed write: got %v, struck %d times", err, fault.Hits())
	}
}

func TestFaultStrikesEveryTime(t *testing.T) {
	budget := createBudget(t)
	fault := realserver.NewFault(realserver.StatusWrites(), realserver.Conflict(), realserver.Times(-1))
	c := server.Client(t, scheme.Scheme, fault.Wrap)
	for range 3 {
		if err := allow(bounded(t), c, budget, 1, false); !apierrors.IsConflict(err) {
			t.Errorf("got %v", err)
		}
	}
}
