package patcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func statusError(code int32, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
}

func TestOutcomeIsUnknown(t *testing.T) {
	for _, row := range []struct {
		name    string
		err     error
		unknown bool
	}{
		{"no answer", context.DeadlineExceeded, true},
		{"the connection broke", &net.OpError{Op: "read", Err: errors.New("connection reset")}, true},
		{"never connected", fmt.Errorf("patch: %w", &net.OpError{Op: "dial", Err: errors.New("refused")}), false},
		{"throttled by the own client", fmt.Errorf("client rate limiter Wait returned an error: %w", context.DeadlineExceeded), false},
		{"invalid", statusError(http.StatusUnprocessableEntity, "spec.x: required"), false},
		{"larger than a request may be", statusError(http.StatusRequestEntityTooLarge, "limit is 3145728"), false},
		{"a proxy that lost its server", statusError(http.StatusServiceUnavailable, "no endpoints"), true},
		{"a server that ran out of time", statusError(http.StatusGatewayTimeout, "context deadline exceeded"), true},
		{"etcd ran out of time", statusError(http.StatusInternalServerError, "etcdserver: request timed out"), true},
		{"etcd did not store it", statusError(http.StatusInternalServerError, "etcdserver: request is too large"), false},
		{"a webhook that is down", statusError(http.StatusInternalServerError, `Internal error occurred: failed calling webhook "a.b": failed to call webhook: Post "https://a.b": dial tcp: refused`), false},
		{"a webhook that denied with 500", statusError(http.StatusInternalServerError, `admission webhook "a.b" denied the request: boom`), false},
		{"any other 500", statusError(http.StatusInternalServerError, "conversion webhook failed"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := outcomeIsUnknown(row.err); got != row.unknown {
				t.Errorf("%v for %v", got, row.err)
			}
		})
	}
}

func TestIsDenied(t *testing.T) {
	for message, denied := range map[string]bool{
		`admission webhook "a.b" denied the request: the object has been modified`:                               true,
		`Operation cannot be fulfilled on cells "a": the object has been modified; please apply your changes`:    false,
		`Operation cannot be fulfilled on cells "a": an admission webhook "x" denied the request, says the name`: false,
	} {
		if got := isDenied(fmt.Errorf("wrapped: %w", statusError(http.StatusConflict, message))); got != denied {
			t.Errorf("%v for %s", got, message)
		}
	}
}
