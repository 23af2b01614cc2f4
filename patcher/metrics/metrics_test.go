package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patcher/metrics"
)

func TestS40_Metrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	observer, err := metrics.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []patcher.Observation{
		{Kind: "Cell", Operation: patcher.OperationFlush, Result: patcher.ResultUnchanged},
		{Kind: "Cell", Operation: patcher.OperationFlush, Result: patcher.ResultPatched, Attempts: 1, Duration: 2 * time.Millisecond},
		{Kind: "Cell", Operation: patcher.OperationRetry, Error: patcher.ErrorConflict, Attempts: 8, Conflicts: 8},
		{Kind: "Cell", Operation: patcher.OperationPatchMetadata, Error: patcher.ErrorConflict, Attempts: 1, Conflicts: 1},
		{Kind: "Cell", Operation: patcher.OperationPatchSpec, Result: patcher.ResultPatched, Attempts: 1},
	} {
		observer.Observe(t.Context(), o)
	}
	observer.ObserveBlindWrite(t.Context(), patcher.BlindWrite{Kind: "Cell", Class: patcher.BlindMerge, Action: patcher.ActionLocked})
	want := `
# HELP statuspatcher_blind_writes_total Status writes without an optimistic lock that reached a wrapped client, by class and by what the client did (sent, allowed, locked, refused).
# TYPE statuspatcher_blind_writes_total counter
statuspatcher_blind_writes_total{action="locked",class="blind-merge",kind="Cell"} 1
# HELP statuspatcher_conflicts_total Writes that the API server refused because the object had changed since it was read.
# TYPE statuspatcher_conflicts_total counter
statuspatcher_conflicts_total{kind="Cell"} 9
# HELP statuspatcher_flush_total Calls of Flush and Retry, by result (unchanged, patched, rebased, gone) or class of error.
# TYPE statuspatcher_flush_total counter
statuspatcher_flush_total{kind="Cell",result="conflict"} 1
statuspatcher_flush_total{kind="Cell",result="patched"} 1
statuspatcher_flush_total{kind="Cell",result="unchanged"} 1
`
	err = testutil.GatherAndCompare(registry, strings.NewReader(want), "statuspatcher_flush_total", "statuspatcher_conflicts_total", "statuspatcher_blind_writes_total")
	if err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(registry, "statuspatcher_flush_duration_seconds"); n != 1 {
		t.Errorf("%d duration series, want 1", n)
	}
	if _, err := metrics.New(registry); err == nil {
		t.Error("control: a second registration is no error")
	}
}
