package sim

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func (s *Server) list(r *Request) *Answer {
	byLabel, err := labels.Parse(r.Query.Get("labelSelector"))
	if err != nil {
		return refuse(apierrors.NewBadRequest(err.Error()))
	}
	byField, refused := parseFields(r.Query.Get("fieldSelector"))
	if refused != nil {
		return refuse(refused)
	}
	items := []any{}
	for _, key := range s.keysOf(r) {
		u := &unstructured.Unstructured{Object: s.objects[key].visible}
		if byLabel.Matches(labels.Set(u.GetLabels())) &&
			byField.Matches(fields.Set{"metadata.name": key.Name, "metadata.namespace": key.Namespace}) {
			items = append(items, r.Kind.listItem(u.Object))
		}
	}
	return &Answer{Code: http.StatusOK, Object: map[string]any{
		"kind": r.Kind.GVK.Kind + "List", "apiVersion": r.Kind.GVK.GroupVersion().String(),
		"metadata": map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}, "items": items,
	}}
}

// listItem: items of built-in kinds carry no apiVersion and kind.
func (k *Kind) listItem(obj map[string]any) map[string]any {
	if !k.Builtin {
		return obj
	}
	out := maps.Clone(obj)
	delete(out, "apiVersion")
	delete(out, "kind")
	return out
}

func (s *Server) keysOf(r *Request) []Key {
	var keys []Key
	gk := r.Kind.GVK.GroupKind()
	for key := range s.objects {
		if key.Kind == gk && (r.Namespace == "" || key.Namespace == r.Namespace) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, CompareKeys)
	return keys
}

// parseFields allows the two fields that every resource can be selected by.
func parseFields(text string) (fields.Selector, *apierrors.StatusError) {
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	for _, requirement := range selector.Requirements() {
		if requirement.Field != "metadata.name" && requirement.Field != "metadata.namespace" {
			return nil, apierrors.NewBadRequest("field label not supported: " + requirement.Field)
		}
	}
	return selector, nil
}
