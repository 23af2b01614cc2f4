package patcher

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// onlyStatusChanged is an error that names what else mutate changed in after, which was a copy of before: Retry writes the
// status, and would lose the rest.
func (c *Client[T, S]) onlyStatusChanged(before, after T) error {
	a, b := c.withoutStatus(before), c.withoutStatus(after)
	if reflect.DeepEqual(a, b) {
		return nil
	}
	changed, err := changedFields(a, b)
	if err != nil || len(changed) == 0 {
		return err // what differs has no JSON
	}
	return fmt.Errorf("%w: mutate changed %s; it may change status only: write metadata with PatchMetadata, and the spec with PatchSpec",
		ErrPendingChanges, strings.Join(changed, ", "))
}

// withoutStatus is a shallow copy.
func (c *Client[T, S]) withoutStatus(obj T) T {
	out := c.kind.New()
	c.kind.Assign(out, obj)
	*c.kind.Status(out) = *new(S)
	return out
}

// changedFields names the top-level fields, and those of metadata, in which the JSON of two objects differs.
func changedFields(a, b client.Object) ([]string, error) {
	fieldsA, err := topFields(a)
	if err != nil {
		return nil, err
	}
	fieldsB, err := topFields(b)
	if err != nil {
		return nil, err
	}
	var changed []string
	for name := range fieldsA {
		if !reflect.DeepEqual(fieldsA[name], fieldsB[name]) {
			changed = append(changed, name)
		}
	}
	for name := range fieldsB {
		if _, both := fieldsA[name]; !both {
			changed = append(changed, name)
		}
	}
	return slices.Sorted(slices.Values(changed)), nil
}

func topFields(obj client.Object) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	meta, _ := fields["metadata"].(map[string]any)
	delete(fields, "metadata")
	for name, value := range meta {
		fields["metadata."+name] = value
	}
	return fields, nil
}

// copyMetadata gives to the metadata of from.
func copyMetadata(from, to metav1.Object) {
	to.SetName(from.GetName())
	to.SetGenerateName(from.GetGenerateName())
	to.SetNamespace(from.GetNamespace())
	to.SetUID(from.GetUID())
	to.SetResourceVersion(from.GetResourceVersion())
	to.SetGeneration(from.GetGeneration())
	to.SetCreationTimestamp(from.GetCreationTimestamp())
	to.SetDeletionTimestamp(from.GetDeletionTimestamp())
	to.SetDeletionGracePeriodSeconds(from.GetDeletionGracePeriodSeconds())
	to.SetLabels(from.GetLabels())
	to.SetAnnotations(from.GetAnnotations())
	to.SetFinalizers(from.GetFinalizers())
	to.SetOwnerReferences(from.GetOwnerReferences())
	to.SetManagedFields(from.GetManagedFields())
}
