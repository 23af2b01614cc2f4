package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/transport"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
)

// overlap holds each replica's write of a new plan until the other one has made its own for the same Database and spec; both
// have then decided on the same read. They go on one after the other. That is a leader hand-over, without the luck.
type overlap struct {
	mu       sync.Mutex
	meetings map[string]*meeting
}

// meeting is that of two writes.
type meeting struct {
	first int // the replica that came first
	over  bool
	both  chan struct{} // closed when the second has come
	wrote chan struct{} // closed when the first has its answer
}

// tooLong is when a replica goes on alone; nothing hangs.
const tooLong = 5 * time.Second

func (o *overlap) wrap(replica int) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			plan, err := newPlan(req)
			if err != nil || plan == nil {
				return next.RoundTrip(req)
			}
			m, came := o.meet(fmt.Sprintf("%s %d", req.URL.Path, plan.Generation), replica)
			switch came {
			case 1:
				await(m.both)
				defer close(m.wrote)
			case 2:
				close(m.both)
				await(m.wrote)
			}
			return next.RoundTrip(req)
		})
	}
}

// meet says whether the replica is the first or the second to come; 0, if its write need not wait.
func (o *overlap) meet(key string, replica int) (m *meeting, came int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m, found := o.meetings[key]
	switch {
	case !found:
		m = &meeting{first: replica, both: make(chan struct{}), wrote: make(chan struct{})}
		o.meetings[key] = m
		return m, 1
	case m.over || m.first == replica:
		return m, 0
	}
	m.over = true
	return m, 2
}

func await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(tooLong):
	}
}

// newPlan returns the plan that a status patch gives a Database; nil for any other request.
func newPlan(req *http.Request) (*v1.Plan, error) {
	if req.Method != http.MethodPatch || !strings.Contains(req.URL.Path, "/databases/") || !strings.HasSuffix(req.URL.Path, "/status") {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	var patch v1.Database
	if err := json.Unmarshal(body, &patch); err != nil || patch.Status.Plan == nil || patch.Status.Plan.ID == "" {
		return nil, err
	}
	return patch.Status.Plan, nil
}
