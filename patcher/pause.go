package patcher

import (
	"context"
	"time"
)

// pause waits for a random part of backoff, which is cut at maxBackoff. It reports false if ctx ended first.
func (c *Client[T, S]) pause(ctx context.Context, backoff time.Duration) bool {
	jittered := time.Duration(c.options.jitter() * float64(min(max(backoff, minBackoff), maxBackoff)))
	select {
	case <-ctx.Done():
		return false
	case <-c.options.clock.After(jittered):
		return true
	}
}

// spread makes a backoff half as long again for each attempt after the first.
func spread(backoff time.Duration, attempts int) time.Duration {
	for range attempts {
		if backoff >= maxBackoff {
			break
		}
		backoff += backoff / 2
	}
	return backoff
}
