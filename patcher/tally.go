package patcher

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tally counts what one call sends.
type tally struct {
	operation Operation
	began     time.Time
	attempts  int
	conflicts int
}

func (c *Client[T, S]) begin(operation Operation) tally {
	t := tally{operation: operation}
	if c.options.observer != nil {
		t.began = c.options.clock.Now()
	}
	return t
}

// end closes a call: errGone becomes a result, a conflict gets its delay, and the observer is told.
func (c *Client[T, S]) end(ctx context.Context, key client.ObjectKey, t tally, result Result, err error) (Result, error) {
	if errors.Is(err, errGone) {
		result, err = ResultGone, nil
	}
	if err != nil {
		result, err = "", c.delayed(key, err)
	}
	if c.options.observer != nil {
		c.options.observer.Observe(ctx, Observation{
			Kind:      c.kind.Name,
			Key:       key,
			Operation: t.operation,
			Result:    result,
			Attempts:  t.attempts,
			Conflicts: t.conflicts,
			Duration:  c.options.clock.Now().Sub(t.began),
			Error:     classify(err),
		})
	}
	return result, err
}
