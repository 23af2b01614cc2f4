// Package metrics observes patchers for Prometheus:
//
//	observer, err := metrics.New(ctrlmetrics.Registry)
//	statuses := v1status.NewDatabaseStatusClient(c, live, patcher.WithObserver(observer))
//
// One observer serves every kind of a process. It exports
//
//	statuspatcher_flush_total{kind,result}        calls of Flush and Retry, by patcher.Result or class of error
//	statuspatcher_conflicts_total{kind}           writes that were refused because the object had changed
//	statuspatcher_flush_duration_seconds{kind}    how long those calls took, a histogram
//	statuspatcher_blind_writes_total{kind,class,action}   blind status writes that a client of patcher.Wrap has seen
//
// No label has values without bound: object names are in none.
package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// Observer is a patcher.Observer and a patcher.BlindWriteObserver that counts.
type Observer struct {
	blind     *prometheus.CounterVec
	flushes   *prometheus.CounterVec
	conflicts *prometheus.CounterVec
	duration  *prometheus.HistogramVec
}

// New registers the metrics. Where registerer has them already the error is a prometheus.AlreadyRegisteredError, for errors.As: make
// one Observer and share it.
func New(registerer prometheus.Registerer) (*Observer, error) {
	o := &Observer{
		blind: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "statuspatcher_blind_writes_total",
			Help: "Status writes without an optimistic lock that reached a wrapped client, by class and by what the client did (sent, allowed, locked, refused).",
		}, []string{"kind", "class", "action"}),
		flushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "statuspatcher_flush_total",
			Help: "Calls of Flush and Retry, by result (unchanged, patched, rebased, gone) or class of error.",
		}, []string{"kind", "result"}),
		conflicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "statuspatcher_conflicts_total",
			Help: "Writes that the API server refused because the object had changed since it was read.",
		}, []string{"kind"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "statuspatcher_flush_duration_seconds",
			Help:    "How long calls of Flush and Retry took, requests and backoff included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"kind"}),
	}
	for _, collector := range []prometheus.Collector{o.blind, o.flushes, o.conflicts, o.duration} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Observe implements patcher.Observer.
func (o *Observer) Observe(_ context.Context, seen patcher.Observation) {
	o.conflicts.WithLabelValues(seen.Kind).Add(float64(seen.Conflicts))
	if seen.Operation != patcher.OperationFlush && seen.Operation != patcher.OperationRetry {
		return
	}
	result := string(seen.Result)
	if seen.Error != "" {
		result = string(seen.Error)
	}
	o.flushes.WithLabelValues(seen.Kind, result).Inc()
	o.duration.WithLabelValues(seen.Kind).Observe(seen.Duration.Seconds())
}

// ObserveBlindWrite implements patcher.BlindWriteObserver.
func (o *Observer) ObserveBlindWrite(_ context.Context, w patcher.BlindWrite) {
	o.blind.WithLabelValues(w.Kind, string(w.Class), string(w.Action)).Inc()
}
