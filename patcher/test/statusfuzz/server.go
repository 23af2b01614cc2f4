package statusfuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// server holds one object of a custom resource. It takes status patches the way kube-apiserver does: the lock first, then
// MergePatch of the same library, then the decoding that makes every number an int64 or a float64.
type server[T client.Object, S any] struct {
	client.Client
	kind     *Kind[T, S]
	status   []byte // the JSON of tree
	tree     map[string]any
	version  int
	requests int
	last     []byte
	// patcher makes a patcher that writes to this server.
	patcher func(T) (Patcher[S], error)
}

func newServer[T client.Object, S any](kind *Kind[T, S]) *server[T, S] {
	s := &server[T, S]{kind: kind}
	s.patcher = kind.Patchers(s, patcher.WithClock(clock{}))
	return s
}

func (s *server[T, S]) reset(b base[S]) {
	s.status, s.tree, s.version, s.requests, s.last = b.json, b.stored, 1, 0, nil
}

// sent is the status part of the last patch.
func (s *server[T, S]) sent() any {
	var patch struct {
		Status map[string]any `json:"status"`
	}
	if err := utiljson.Unmarshal(s.last, &patch); err != nil {
		return nil
	}
	return asStored(patch.Status)
}

// Status is the only way to this server, as it is a patcher's.
func (s *server[T, S]) Status() client.SubResourceWriter { return statusWriter[T, S]{server: s} }

type statusWriter[T client.Object, S any] struct {
	client.SubResourceWriter
	server *server[T, S]
}

func (w statusWriter[T, S]) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	s := w.server
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	s.requests++
	s.last = data
	current := fmt.Appendf(nil, `{"metadata":{"resourceVersion":"%d"},"status":%s}`, s.version, s.status)
	patched, err := jsonpatch.MergePatch(current, data)
	if err != nil {
		return fmt.Errorf("the server cannot apply %s: %w", data, err)
	}
	var stored struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Status map[string]any `json:"status"`
	}
	if err := utiljson.Unmarshal(patched, &stored); err != nil {
		return fmt.Errorf("the server cannot read %s: %w", patched, err)
	}
	if stored.Metadata.ResourceVersion != strconv.Itoa(s.version) {
		return apierrors.NewConflict(schema.GroupResource{}, obj.GetName(), fmt.Errorf("it has version %d", s.version))
	}
	s.tree, s.version = asStored(stored.Status).(map[string]any), s.version+1
	if s.status, err = json.Marshal(s.tree); err != nil {
		return err
	}
	obj.SetResourceVersion(strconv.Itoa(s.version))
	return utiljson.Unmarshal(s.status, s.kind.Status(obj.(T)))
}
