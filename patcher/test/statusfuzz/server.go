package statusfuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	s.patcher = kind.Patchers(s, append(kind.Options, patcher.WithClock(clock{}))...)
	return s
}

func (s *server[T, S]) reset(b base[S]) {
	s.status, s.tree, s.version, s.requests, s.last = b.json, b.stored, 1, 0, nil
}

// needless reports whether the last patch has something that base has as well.
func (s *server[T, S]) needless(base map[string]any) bool {
	var operations []operation
	if err := utiljson.Unmarshal(s.last, &operations); err == nil {
		return slices.ContainsFunc(operations, func(o operation) bool { return o.needless(base) })
	}
	var patch struct {
		Status map[string]any `json:"status"`
	}
	return utiljson.Unmarshal(s.last, &patch) == nil && needless(base, asStored(patch.Status))
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// needless: an entry that is added to a list moves those that follow, so only paths through objects are looked at.
func (o operation) needless(base any) bool {
	steps := strings.Split(o.Path, "/")[1:]
	if o.Op != "add" || steps[0] != "status" {
		return false
	}
	for _, step := range steps[1:] {
		object, isObject := base.(map[string]any)
		if !isObject {
			return false
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		value, there := object[step]
		if !there {
			return false
		}
		base = value
	}
	value := asStored(o.Value)
	return value != nil && !isZero(value) && reflect.DeepEqual(base, value)
}

func apply(format types.PatchType, current, data []byte) ([]byte, error) {
	if format != types.JSONPatchType {
		return jsonpatch.MergePatch(current, data)
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	return operations.Apply(current)
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
	patched, err := apply(patch.Type(), current, data)
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
