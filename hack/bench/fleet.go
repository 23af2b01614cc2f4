package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
)

const fleet = 1000

// fleetRows: each of many objects is reconciled once, as from a cache, and the status of one in a hundred changes.
func fleetRows(ctx context.Context, a *arena, rounds int) ([]row, error) {
	for i := range fleet {
		w := sizes[1].object()
		w.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("fleet-%d", i), Labels: map[string]string{"fleet": "yes"}}
		if err := a.Create(ctx, w); err != nil {
			return nil, err
		}
	}
	samples, by := map[string][]sample{}, []string{}
	for round := range rounds {
		for i, c := range contestants {
			s, err := reconcileFleet(ctx, a, c, fmt.Sprintf("Phase-%d-%d", round, i))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			samples[c.name] = append(samples[c.name], s)
			if round == 0 {
				by = append(by, c.name)
			}
		}
	}
	return summarise("server", fmt.Sprintf("%d objects, 1 %% change", fleet), by, samples), nil
}

func reconcileFleet(ctx context.Context, a *arena, c contestant, phase string) (sample, error) {
	list := &v1.WorkloadList{}
	if err := a.List(ctx, list, client.MatchingLabels{"fleet": "yes"}); err != nil {
		return nil, err
	}
	if meta.LenList(list) != fleet {
		return nil, fmt.Errorf("%d objects, want %d", meta.LenList(list), fleet)
	}
	write := c.new(a)
	var took []time.Duration
	before, began, cpu := a.counter.requests.Load(), time.Now(), processTime()
	for i := range list.Items {
		start := time.Now()
		err := write(ctx, &list.Items[i], func(s *v1.WorkloadStatus) {
			if i%100 == 0 {
				s.Phase = phase
			}
		})
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return withPercentiles(sample{
		"requests": float64(a.counter.requests.Load() - before),
		"wall-s":   time.Since(began).Seconds(),
		"cpu-s":    (processTime() - cpu).Seconds(),
	}, took), nil
}
