package patcher

import (
	"errors"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// This file says what an error of a request tells about the write. The API server's reasons and codes say most of it; the
// texts below have been the same in every release, and the tests hold them against a real server.

// errOutdated is the conflict of an object that no reader has any more in the version that it was read in.
func errOutdated(kind, name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: kind}, name,
		errors.New("it has another resourceVersion by now, so the state that it was read in is not known"))
}

// isDenied reports whether an admission webhook denied the request. Its denial has whatever code the webhook chose, 409
// included, and is no word of the storage about versions.
func isDenied(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	message := status.Status().Message
	return strings.HasPrefix(message, "admission webhook ") && strings.Contains(message, " denied the request")
}

// isNotServed reports whether a 404 speaks of the kind, and not of an object: the API server has no such path.
func isNotServed(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// outcomeIsUnknown reports whether the request may have reached the storage although no answer came from it: the connection
// broke, or the answer is that of somebody who does not know. A proxy, or the aggregator, says 503 also if it lost the
// server after it had passed the request on.
func outcomeIsUnknown(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= http.StatusInternalServerError && !isDenied(err) && !failedBefore(status.Status().Message)
	}
	return !wasNotSent(err)
}

// failedBefore recognizes the answers of 500 and above that the API server gives before it has written anything: a webhook
// that it could not call, and what etcd refuses to store.
func failedBefore(message string) bool {
	for _, text := range []string{
		"failed calling webhook",                 // a webhook is down, and its failurePolicy is Fail
		"etcdserver: request is too large",       // the object, by etcd's limit
		"trying to send message larger than max", // the object, by the limit of the connection to etcd
	} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// wasNotSent recognizes errors of this process.
func wasNotSent(err error) bool {
	var op *net.OpError
	return meta.IsNoMatchError(err) || runtime.IsNotRegisteredError(err) ||
		errors.As(err, &op) && op.Op == "dial" ||
		strings.Contains(err.Error(), "client rate limiter Wait returned an error")
}
