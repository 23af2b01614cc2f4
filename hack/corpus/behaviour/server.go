package behaviour

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A server holds one object as JSON, and does with a status patch what an API server does: check the resourceVersion, merge,
// keep everything but the status.
type server struct {
	client.Client // all that a patcher does not call is nil

	object   map[string]any
	version  int
	requests int
}

func newServer(status any) (*server, error) {
	s := &server{version: 1, object: map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "subject", "uid": "uid-1", "generation": float64(1), "resourceVersion": "1"},
	}}
	decoded, err := decode(status)
	if err == nil && decoded != nil {
		s.object["status"] = decoded
	}
	return s, err
}

// decode takes a value through JSON.
func decode(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(data, &out)
}

func (s *server) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	return s.answer(obj)
}

func (s *server) answer(obj client.Object) error {
	data, err := json.Marshal(s.object)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, obj)
}

func (s *server) Status() client.SubResourceWriter { return statusWriter{server: s} }

type statusWriter struct {
	client.SubResourceWriter
	server *server
}

func (w statusWriter) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	s := w.server
	s.requests++
	if patch.Type() != types.MergePatchType {
		return fmt.Errorf("the patch is a %s", patch.Type())
	}
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		return err
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata["resourceVersion"] != s.object["metadata"].(map[string]any)["resourceVersion"] {
		return apierrors.NewConflict(schema.GroupResource{}, "subject", fmt.Errorf("the patch has %v", metadata))
	}
	if patched, ok := body["status"]; ok {
		s.object["status"] = merge(s.object["status"], patched)
	}
	s.version++
	s.object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	return s.answer(obj)
}

// merge is RFC 7396.
func merge(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, _ := target.(map[string]any)
	out = maps.Clone(out)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range fields {
		if value == nil {
			delete(out, name)
		} else {
			out[name] = merge(out[name], value)
		}
	}
	return out
}
