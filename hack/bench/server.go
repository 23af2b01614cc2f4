package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	fluxpatch "github.com/fluxcd/pkg/runtime/patch"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	capipatch "sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
	"github.com/statuspatcher/statuspatcher/hack/bench/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// An updater reads the object and writes the status that mutate leaves, once, or says that it conflicted.
type updater struct {
	name string
	new  func(c client.Client) func(ctx context.Context, key client.ObjectKey, mutate func(*v1.WorkloadStatus)) error
}

var updaters = []updater{
	{"patcher Retry", func(c client.Client) func(context.Context, client.ObjectKey, func(*v1.WorkloadStatus)) error {
		statuses := v1status.NewWorkloadStatusClient(c, c)
		return func(ctx context.Context, key client.ObjectKey, mutate func(*v1.WorkloadStatus)) error {
			_, err := statuses.Retry(ctx, key, func(w *v1.Workload) error {
				mutate(&w.Status)
				return nil
			})
			return err
		}
	}},
	{byRetryUpdate, func(c client.Client) func(context.Context, client.ObjectKey, func(*v1.WorkloadStatus)) error {
		return func(ctx context.Context, key client.ObjectKey, mutate func(*v1.WorkloadStatus)) error {
			return retry.RetryOnConflict(retry.DefaultRetry, func() error {
				return afterGet(ctx, c, key, func(w *v1.Workload) error {
					mutate(&w.Status)
					return c.Status().Update(ctx, w)
				})
			})
		}
	}},
	{"RetryOnConflict+handwritten", func(c client.Client) func(context.Context, client.ObjectKey, func(*v1.WorkloadStatus)) error {
		return func(ctx context.Context, key client.ObjectKey, mutate func(*v1.WorkloadStatus)) error {
			return retry.RetryOnConflict(retry.DefaultRetry, func() error {
				return afterGet(ctx, c, key, func(w *v1.Workload) error { return handwritten(c)(ctx, w, mutate) })
			})
		}
	}},
	{byFlux, func(c client.Client) func(context.Context, client.ObjectKey, func(*v1.WorkloadStatus)) error {
		return func(ctx context.Context, key client.ObjectKey, mutate func(*v1.WorkloadStatus)) error {
			return afterGet(ctx, c, key, func(w *v1.Workload) error {
				serial := fluxpatch.NewSerialPatcher(w, c)
				mutate(&w.Status)
				return serial.Patch(ctx, w)
			})
		}
	}},
	{byClusterAPI, func(c client.Client) func(context.Context, client.ObjectKey, func(*v1.WorkloadStatus)) error {
		return func(ctx context.Context, key client.ObjectKey, mutate func(*v1.WorkloadStatus)) error {
			return afterGet(ctx, c, key, func(w *v1.Workload) error {
				helper, err := capipatch.NewHelper(w, c)
				if err != nil {
					return err
				}
				mutate(&w.Status)
				return helper.Patch(ctx, w)
			})
		}
	}},
}

func afterGet(ctx context.Context, c client.Client, key client.ObjectKey, write func(*v1.Workload) error) error {
	w := &v1.Workload{}
	if err := c.Get(ctx, key, w); err != nil {
		return err
	}
	return write(w)
}

// counter counts the requests below a client.
type counter struct {
	requests atomic.Int64
	next     http.RoundTripper
}

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.next.RoundTrip(req)
}

// arena is a real API server and a counted client of it.
type arena struct {
	client.Client
	counter *counter
}

const namespace = "bench"

func serverTable(rounds int) ([]row, error) {
	server, err := realserver.New(realserver.WithCRDDirs("crd"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Stop() }()
	a := &arena{counter: &counter{}}
	config := server.Config(func(next http.RoundTripper) http.RoundTripper {
		a.counter.next = next
		return a.counter
	})
	scheme := newScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if a.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if err := a.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	contended, err := contendedRows(ctx, a, rounds)
	if err != nil {
		return nil, err
	}
	fleet, err := fleetRows(ctx, a, rounds)
	return append(contended, fleet...), err
}

// contendedRows: writers that each add one to a counter in the same status, again and again.
func contendedRows(ctx context.Context, a *arena, rounds int) ([]row, error) {
	var rows []row
	for _, writers := range []int{1, 8, 32} {
		samples, by := map[string][]sample{}, []string{}
		for round := range rounds {
			for i, u := range updaters {
				w := sizes[1].object()
				w.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("contended-%d-%d-%d", writers, round, i)}
				if err := a.Create(ctx, w); err != nil {
					return nil, err
				}
				s, err := contend(ctx, a, u, client.ObjectKeyFromObject(w), writers, 96/writers)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", u.name, err)
				}
				samples[u.name] = append(samples[u.name], s)
				if round == 0 {
					by = append(by, u.name)
				}
			}
		}
		rows = append(rows, summarise("server", fmt.Sprintf("%d writers on one object", writers), by, samples)...)
	}
	return rows, nil
}

func contend(ctx context.Context, a *arena, u updater, key client.ObjectKey, writers, each int) (sample, error) {
	update := u.new(a)
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	before, began := a.counter.requests.Load(), time.Now()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				start := time.Now()
				err := update(ctx, key, func(s *v1.WorkloadStatus) { s.Landed++ })
				for apierrors.IsConflict(err) { // its attempts are used up: a workqueue would call it again
					err = update(ctx, key, func(s *v1.WorkloadStatus) { s.Landed++ })
				}
				mu.Lock()
				took, failed = append(took, time.Since(start)), errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	wall, requests := time.Since(began), a.counter.requests.Load()-before
	live := &v1.Workload{}
	if err := errors.Join(failed, a.Get(ctx, key, live)); err != nil {
		return nil, err
	}
	landed := float64(live.Status.Landed)
	return withPercentiles(sample{
		"landed/s":        landed / wall.Seconds(),
		"requests/landed": float64(requests) / landed,
		"lost/100":        100 * (1 - landed/float64(writers*each)),
	}, took), nil
}

func withPercentiles(s sample, took []time.Duration) sample {
	slices.Sort(took)
	s["p50-ms"] = took[len(took)/2].Seconds() * 1e3
	s["p99-ms"] = took[len(took)*99/100].Seconds() * 1e3
	return s
}
