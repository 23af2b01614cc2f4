package patchertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// Call makes a call of an outside system, such as a cloud or a database, a step of the schedule. It interleaves with everything
// else; with Timeouts it fails before or after it took effect, and with Crashes the process dies on either side of it. One
// line in each method of a fake is enough:
//
//	func (f *fakeCloud) Create(ctx context.Context, name string) (string, error) {
//		return patchertest.Call(ctx, "cloud.Create", func() (string, error) { return f.create(name) })
//	}
//
// The context must be the one that Reconcile received, or one derived from it; a foreign step passes its own. Act runs at
// most once, in the caller's goroutine, while nothing else runs, so a fake needs no lock. Without an exploration Call just
// calls act.
func Call[T any](ctx context.Context, name string, act func() (T, error)) (T, error) {
	var value T
	var failed error
	err := world.Outside(ctx, name, func() string {
		value, failed = act()
		if failed != nil {
			return "error: " + failed.Error()
		}
		return resultText(value)
	})
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return value, failed
}

// resultText shows what a call returned. Pointers and the like differ from run to run, and are left out.
func resultText(value any) string {
	switch v := value.(type) {
	case string, bool, int, int32, int64, uint, uint32, uint64, float64, []string, []int:
		return fmt.Sprint(v)
	case *http.Response:
		return v.Status
	case fmt.Stringer:
		return v.String()
	}
	return "done"
}

// Transport is an http.RoundTripper for the client of a real SDK: each request is a Call named by the system, the method and the
// path, such as "cloud POST /v1/machines", that the fake serves in memory. The request's context must be that of Reconcile.
func Transport(system string, fake http.Handler) http.RoundTripper {
	return &outsideTransport{system: system, fake: fake}
}

type outsideTransport struct {
	system string
	fake   http.Handler
}

// RoundTrip implements http.RoundTripper without a network.
func (t *outsideTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
	}
	var response *http.Response
	err := world.Outside(req.Context(), strings.Join([]string{t.system, req.Method, req.URL.Path}, " "), func() string {
		served := req.Clone(req.Context())
		served.RequestURI = req.URL.RequestURI()
		if served.Body == nil {
			served.Body = http.NoBody
		}
		recorder := httptest.NewRecorder()
		t.fake.ServeHTTP(recorder, served)
		response = recorder.Result()
		response.Request = req
		return response.Status
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// TimeoutError is what the caller of a Call that timed out finds with errors.As. It implements net.Error.
type TimeoutError = sim.TimeoutError

var _ interface{ Timeout() bool } = (*TimeoutError)(&sim.TimeoutError{URL: &url.URL{}})
