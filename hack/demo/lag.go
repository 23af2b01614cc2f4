package main

import (
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/transport"
)

// lag delivers what the watches of a resource say that much later, as from an API server under load: informers, and with
// them the caches that reconciles read, are behind by it.
func lag(resource string, by time.Duration) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && req.URL.Query().Has("watch") && strings.HasSuffix(req.URL.Path, "/"+resource) {
				resp.Body = delayed(resp.Body, by)
			}
			return resp, err
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// delayedBody hands on what it reads when it is due.
type delayedBody struct {
	io.Closer
	chunks chan chunk
	rest   []byte
}

type chunk struct {
	data []byte
	due  time.Time
	err  error
}

func delayed(body io.ReadCloser, by time.Duration) *delayedBody {
	const more = 1 << 12 // than a watch says in the time of the lag
	b := &delayedBody{Closer: body, chunks: make(chan chunk, more)}
	go func() {
		for {
			buffer := make([]byte, 32<<10)
			n, err := body.Read(buffer)
			b.chunks <- chunk{data: buffer[:n], due: time.Now().Add(by), err: err}
			if err != nil {
				close(b.chunks)
				return
			}
		}
	}()
	return b
}

func (b *delayedBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		next, ok := <-b.chunks
		if !ok {
			return 0, io.EOF
		}
		time.Sleep(time.Until(next.due))
		if b.rest = next.data; len(b.rest) == 0 {
			return 0, next.err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}
