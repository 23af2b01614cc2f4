package realserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Answer is what the client gets in place of the server's answer: a response, or an error when there is none.
type Answer func(Request) (*http.Response, error)

// Conflict answers 409, as if another write had come first.
func Conflict() Answer {
	return func(r Request) (*http.Response, error) {
		resource := schema.GroupResource{Group: r.Group, Resource: r.Resource}
		return refuse(apierrors.NewConflict(resource, r.Name, errors.New("injected by a test")))
	}
}

// TooManyRequests answers 429 with a Retry-After, rounded up to seconds. NB: client-go waits that long and tries again by
// itself, up to ten times; with 0 it does so at once.
func TooManyRequests(retryAfter time.Duration) Answer {
	return func(Request) (*http.Response, error) {
		seconds := int(math.Ceil(retryAfter.Seconds()))
		resp, err := refuse(apierrors.NewTooManyRequests("injected by a test", seconds))
		resp.Header.Set("Retry-After", strconv.Itoa(seconds))
		return resp, err
	}
}

// InternalError answers 500.
func InternalError() Answer {
	return func(Request) (*http.Response, error) {
		return refuse(apierrors.NewInternalError(errors.New("injected by a test")))
	}
}

// GatewayTimeout answers 504, as the server does for a request that it could not finish in time.
func GatewayTimeout() Answer {
	return func(Request) (*http.Response, error) {
		return refuse(apierrors.NewTimeoutError("injected by a test", 0))
	}
}

// ConnectionReset gives no answer: the peer closed the connection. NB: client-go tries a get again by itself.
func ConnectionReset() Answer {
	return func(Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
}

// Timeout gives no answer: the client's own time was up. It does not wait for that time.
func Timeout() Answer {
	return func(Request) (*http.Response, error) { return nil, context.DeadlineExceeded }
}

// Fault spoils the answers to some requests. It is safe for concurrent use.
type Fault struct {
	match       Match
	answer      Answer
	afterCommit bool

	mu   sync.Mutex
	left int // negative: without end
	hits int
}

// FaultOption changes when a Fault strikes.
type FaultOption func(*Fault)

// Times lets the fault strike n times instead of once; a negative n, every time.
func Times(n int) FaultOption { return func(f *Fault) { f.left = n } }

// AfterCommit lets the server carry out the request before the fault strikes: the write is there, and its author is
// told otherwise. It is for writes: a watch never ends. A request that the server refuses gets the server's own answer, and the fault is kept for another.
func AfterCommit() FaultOption { return func(f *Fault) { f.afterCommit = true } }

// NewFault returns a fault that gives answer in place of the server's to the first request that match means, which then
// does not reach the server. Let the test check Hits: a fault that never struck proves nothing.
func NewFault(match Match, answer Answer, opts ...FaultOption) *Fault {
	f := &Fault{match: match, answer: answer, left: 1}
	for _, opt := range opts {
		opt(f)
	}
	return f
}

// Wrap goes to Server.Config, Server.Client or the Wrap of a rest.Config.
func (f *Fault) Wrap(next http.RoundTripper) http.RoundTripper {
	return &interceptor{next: next, intercept: f.spoil}
}

// Hits is how often the fault has struck.
func (f *Fault) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

func (f *Fault) spoil(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	read, req, err := readRequest(req)
	if err != nil {
		return nil, err
	}
	if !f.match(read) || !f.take() {
		return next.RoundTrip(req)
	}
	if f.afterCommit {
		resp, err := next.RoundTrip(req)
		if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
			f.giveBack()
			return resp, err
		}
		_, _ = io.Copy(io.Discard, resp.Body) // the server is done, and the connection can be used again
		_ = resp.Body.Close()
	}
	resp, err := f.answer(read)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// take reserves a strike before the request is sent, so that concurrent requests do not exceed the number.
func (f *Fault) take() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return false
	}
	f.left--
	f.hits++
	return true
}

func (f *Fault) giveBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left++
	f.hits--
}

// refuse is the response that the API server sends for an error.
func refuse(err *apierrors.StatusError) (*http.Response, error) {
	status := err.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	body, encodeErr := json.Marshal(status)
	return &http.Response{
		Status:     strconv.Itoa(int(status.Code)) + " " + http.StatusText(int(status.Code)),
		StatusCode: int(status.Code),
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}, encodeErr
}
