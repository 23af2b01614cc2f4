package main

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
)

// memory is a client whose API server is one object in memory. It builds the body of each request, as the real client
// does, and answers with a shallow copy of an object made beforehand, which costs the same few nanoseconds whoever asks:
// what is left to measure is the contestant. Reads, as from a cache, are deep copies.
type memory struct {
	client.Client // what no contestant calls is nil

	scheme *runtime.Scheme
	// stored is what reads answer; answer is what writes do.
	stored, answer *v1.Workload

	requests, reads int
	wire            int // bytes of the requests' bodies
}

// newMemory has obj, which mutate will change.
func newMemory(obj *v1.Workload, mutate func(*v1.WorkloadStatus)) *memory {
	answer := obj.DeepCopy()
	mutate(&answer.Status)
	answer.ResourceVersion = "1001"
	return &memory{scheme: newScheme(), stored: obj, answer: answer}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return scheme
}

func (m *memory) Scheme() *runtime.Scheme { return m.scheme }

func (m *memory) Status() client.SubResourceWriter { return memoryStatus{m: m} }

func (m *memory) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	m.reads++
	m.stored.DeepCopyInto(obj.(*v1.Workload))
	return nil
}

func (m *memory) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errors.New("a write of status must not patch the rest of the object")
}

type memoryStatus struct {
	client.SubResourceWriter
	m *memory
}

func (s memoryStatus) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	body, err := patch.Data(obj)
	return s.send(obj, body, err)
}

func (s memoryStatus) Update(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	body, err := json.Marshal(obj)
	return s.send(obj, body, err)
}

func (s memoryStatus) send(obj client.Object, body []byte, err error) error {
	s.m.requests++
	s.m.wire += len(body)
	*obj.(*v1.Workload) = *s.m.answer
	return err
}
