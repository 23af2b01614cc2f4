package patcher_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// throttledCalls are the ways to a write, each with the request that is throttled.
var throttledCalls = []point{
	{name: "Flush", match: statusPatches, nth: 1, act: flushMine},
	{name: "Retry", match: statusPatches, nth: 1, act: retryMine},
	{name: "PatchMetadata", match: metadataPatches, nth: 1, act: patchMine},
}

// throttle runs act on a bed whose matching requests get the answer, through client-go's own retries.
func throttle(b *bed, at point, answer realserver.Answer, opts ...realserver.FaultOption) (s struck, err error) {
	b.Helper()
	s.fault = realserver.NewFault(at.match, answer, opts...)
	through := &bed{TB: b.TB, ctx: b.ctx, key: b.key, wire: &wire{WithWatch: server.Client(b, newScheme(b), s.fault.Wrap)}}
	cell, p := through.fetch()
	s.bed, s.p, s.from = b, p, cell.ResourceVersion
	return s, at.act(b.ctx, through, p)
}

// noRetryAfter is a 429 that client-go does not send again.
func noRetryAfter(r realserver.Request) (*http.Response, error) {
	resp, err := realserver.TooManyRequests(0)(r)
	resp.Header.Del("Retry-After")
	return resp, err
}

// client-go waits as long as Retry-After says and sends the request again; the runtime sees one write.
func TestThrottled_AWriteLandsAfterTheWait(t *testing.T) {
	for _, at := range throttledCalls {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			s, err := throttle(newBed(t), at, realserver.TooManyRequests(time.Second), realserver.Times(1))
			if err != nil || s.fault.Hits() != 1 {
				t.Fatalf("%v after %d refusals, want none after one", err, s.fault.Hits())
			}
			s.requireOnce(at)
		})
	}
	t.Run("control: without a Retry-After it is not sent again", func(t *testing.T) {
		b := newBed(t)
		s, err := throttle(b, throttledCalls[0], noRetryAfter)
		if !apierrors.IsTooManyRequests(err) || read(err) != saysNotWritten {
			t.Errorf("%v, want a 429 that says that nothing was written", err)
		}
		s.recover(throttledCalls[0], err)
		s.requireOnce(throttledCalls[0])
	})
}

// After its tenth retry client-go gives up, and the error has the delay that the server asked for last.
func TestThrottled_ClientGoGivesUp(t *testing.T) {
	const retries = 10
	for _, at := range throttledCalls {
		t.Run(at.name, func(t *testing.T) {
			sent := 0
			s, err := throttle(newBed(t), at, func(r realserver.Request) (*http.Response, error) {
				if sent++; sent <= retries {
					return realserver.TooManyRequests(0)(r)
				}
				return realserver.TooManyRequests(7 * time.Second)(r)
			}, realserver.Times(1+retries))
			if sent != 1+retries || !apierrors.IsTooManyRequests(err) || read(err) != saysNotWritten {
				t.Fatalf("after %d requests: %v, want a 429 after %d that says that nothing was written", sent, err, 1+retries)
			}
			if delay, ok := apierrors.SuggestsClientDelay(err); !ok || delay != 7 {
				t.Errorf("the error suggests %d s, want 7", delay)
			}
			if _, requeued := patcher.RequeueOnConflict(err); requeued != err {
				t.Errorf("RequeueOnConflict: %v, want the error: it is no conflict", requeued)
			}
			s.recover(at, err)
			s.requireOnce(at)
		})
	}
	t.Run("control: its tenth retry lands", func(t *testing.T) {
		s, err := throttle(newBed(t), throttledCalls[0], realserver.TooManyRequests(0), realserver.Times(retries))
		if err != nil || s.fault.Hits() != retries {
			t.Fatalf("%v after %d refusals", err, s.fault.Hits())
		}
		s.requireOnce(throttledCalls[0])
	})
}

// The server asks for an hour: only a wait that ends with the context lets these tests end.
func TestThrottled_TheWaitEndsWithTheContext(t *testing.T) {
	for _, at := range throttledCalls {
		t.Run(at.name, func(t *testing.T) {
			b := newBed(t)
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			during := &bed{TB: b.TB, ctx: ctx, key: b.key, wire: b.wire}
			s, err := throttle(during, at, func(r realserver.Request) (*http.Response, error) {
				time.AfterFunc(10*time.Millisecond, cancel)
				return realserver.TooManyRequests(time.Hour)(r)
			})
			if s.fault.Hits() != 1 || !errors.Is(err, context.Canceled) {
				t.Fatalf("%v after %d refusals, want the context's error after one", err, s.fault.Hits())
			}
			// A request that is cut off looks the same, so nobody can say that this one did not land.
			if read(err) != saysUnknown {
				t.Errorf("the error tells %q, want %q: %v", read(err), saysUnknown, err)
			}
			if live := b.live(); live.ResourceVersion != s.from {
				t.Errorf("written: %+v", live)
			}
		})
	}
	t.Run("control: a refusal that asks for no wait ends before the context does", func(t *testing.T) {
		b := newBed(t)
		_, err := throttle(b, throttledCalls[0], noRetryAfter)
		if err == nil || errors.Is(err, context.Canceled) || b.ctx.Err() != nil {
			t.Errorf("%v: the context ends every call, and the tests above prove nothing", err)
		}
	})
}
