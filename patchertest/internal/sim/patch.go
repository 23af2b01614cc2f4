package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

func (s *Server) patch(r *Request) *Answer {
	if r.PatchType == types.ApplyPatchType {
		return s.apply(r)
	}
	if !r.Kind.accepts(r.PatchType) {
		return refuse(unsupportedPatch())
	}
	old := s.objects[r.Key()]
	if old == nil {
		return refuse(apierrors.NewNotFound(r.Kind.groupResource(), r.Name))
	}
	patched, refused := patchedObject(r, old.visible)
	if refused != nil {
		return refuse(refused)
	}
	obj, refused := s.decoded(r.Kind, patched)
	if refused != nil {
		return refuse(refused)
	}
	if err := s.matchName(r, &unstructured.Unstructured{Object: obj}); err != nil {
		return refuse(err)
	}
	return s.replace(r, old, obj, fieldWrite{manager: r.manager(), operation: "Update", subresource: r.Subresource})
}

func patchedObject(r *Request, old map[string]any) (map[string]any, *apierrors.StatusError) {
	switch r.PatchType {
	case types.MergePatchType:
		patch, err := parse(r.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return mergePatch(runtime.DeepCopyJSON(old), patch), nil
	case types.JSONPatchType:
		return jsonPatched(r.Body, old)
	}
	return strategicPatched(r, old)
}

func (k *Kind) accepts(patch types.PatchType) bool {
	return patch == types.MergePatchType || patch == types.JSONPatchType || patch == types.StrategicMergePatchType && k.Builtin
}

func unsupportedPatch() *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s, %s, %s",
			types.JSONPatchType, types.MergePatchType, types.ApplyPatchType),
	}}
}

// mergePatch is RFC 7396: nulls delete, and are dropped from objects that are new; in lists they stay.
func mergePatch(target map[string]any, patch map[string]any) map[string]any {
	for name, value := range patch {
		change, isObject := value.(map[string]any)
		switch current, ok := target[name].(map[string]any); {
		case value == nil:
			delete(target, name)
		case isObject && ok:
			target[name] = mergePatch(current, change)
		default:
			target[name] = withoutNulls(value)
		}
	}
	return target
}

func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			if child == nil {
				delete(v, name)
			} else {
				v[name] = withoutNulls(child)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return value
}

func jsonPatched(body []byte, old map[string]any) (map[string]any, *apierrors.StatusError) {
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	document, err := json.Marshal(old)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	out, err := operations.Apply(document)
	if err != nil {
		return nil, unprocessable(err)
	}
	obj, err := parse(out)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj, nil
}

func strategicPatched(r *Request, old map[string]any) (map[string]any, *apierrors.StatusError) {
	patch, err := parse(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	out, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(old), patch, reflect.New(r.Kind.goType).Interface())
	if err != nil {
		return nil, unprocessable(err)
	}
	return out, nil
}

func unprocessable(err error) *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}
