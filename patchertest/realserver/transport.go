package realserver

import "net/http"

// interceptor is a RoundTripper that does something of its own around the next one.
type interceptor struct {
	next      http.RoundTripper
	intercept func(*http.Request, http.RoundTripper) (*http.Response, error)
}

func (i *interceptor) RoundTrip(req *http.Request) (*http.Response, error) {
	return i.intercept(req, i.next)
}

// WrappedRoundTripper lets client-go find the transport, whose idle connections it closes.
func (i *interceptor) WrappedRoundTripper() http.RoundTripper { return i.next }
