package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
)

// wire is the transport below a real client: it answers from memory what an API server would, so that what is measured is
// everything that a contestant's process does, the decoding of the answer included.
type wire struct {
	stored, answer  []byte
	requests, reads atomic.Int64
	bytes           atomic.Int64
}

func newWire(obj *v1.Workload, mutate func(*v1.WorkloadStatus)) (*wire, client.Client, error) {
	m := newMemory(obj, mutate)
	w := &wire{}
	var err error
	if w.stored, err = json.Marshal(m.stored); err != nil {
		return nil, nil, err
	}
	if w.answer, err = json.Marshal(m.answer); err != nil {
		return nil, nil, err
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1.GroupVersion})
	mapper.Add(v1.GroupVersion.WithKind("Workload"), meta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: "http://stub", QPS: -1}, client.Options{
		HTTPClient: &http.Client{Transport: w}, Scheme: m.scheme, Mapper: mapper,
	})
	return w, c, err
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := w.stored
	if req.Method == http.MethodGet {
		w.reads.Add(1)
	} else {
		answer = w.answer
		sent, err := io.Copy(io.Discard, req.Body)
		if err != nil {
			return nil, err
		}
		w.requests.Add(1)
		w.bytes.Add(sent)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(answer)),
	}, nil
}
