package behaviour

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
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
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	var version, status any
	switch patch.Type() {
	case types.MergePatchType:
		version, status, err = s.merged(data)
	case types.JSONPatchType:
		version, status, err = s.patched(data)
	default:
		err = fmt.Errorf("the patch is a %s", patch.Type())
	}
	if err != nil {
		return err
	}
	metadata := s.object["metadata"].(map[string]any)
	if version != metadata["resourceVersion"] {
		return apierrors.NewConflict(schema.GroupResource{}, "subject", fmt.Errorf("the patch has the version %v", version))
	}
	s.object["status"] = status
	s.version++
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	return s.answer(obj)
}

// merged is the status after a merge patch, and the version that the patch is for.
func (s *server) merged(data []byte) (version, status any, err error) {
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, nil, err
	}
	metadata, _ := body["metadata"].(map[string]any)
	status = s.object["status"]
	if patched, ok := body["status"]; ok {
		status = merge(status, patched)
	}
	return metadata["resourceVersion"], status, nil
}

// patched is the status after a JSON patch, and the version that the patch is for: what its first operation puts in the place of the
// object's.
func (s *server) patched(data []byte) (version, status any, err error) {
	var first []struct{ Op, Path, Value any }
	if err := json.Unmarshal(data, &first); err != nil {
		return nil, nil, err
	}
	if len(first) == 0 || first[0].Op != "replace" || first[0].Path != "/metadata/resourceVersion" {
		return nil, nil, fmt.Errorf("the patch does not start with the version: %s", data)
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, nil, err
	}
	before, err := json.Marshal(s.object)
	if err != nil {
		return nil, nil, err
	}
	after, err := operations.Apply(before)
	if err != nil {
		return nil, nil, apierrors.NewInvalid(schema.GroupKind{}, "subject", nil)
	}
	var object map[string]any
	err = json.Unmarshal(after, &object)
	return first[0].Value, object["status"], err
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
