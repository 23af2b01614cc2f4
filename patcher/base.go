package patcher

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// base is the last state that the API server acknowledged: what every diff is made against. It is never taken from an
// object that somebody may have edited, or an edit whose write failed would be lost. The spec is no part of it.
type base[S any] struct {
	status   S
	identity identity
	metadata metadata
}

// identity says which object, and which version of it.
type identity struct {
	uid               types.UID
	resourceVersion   string
	generation        int64
	deletionTimestamp *metav1.Time
}

func identityOf(obj client.Object) identity {
	return identity{
		uid:               obj.GetUID(),
		resourceVersion:   obj.GetResourceVersion(),
		generation:        obj.GetGeneration(),
		deletionTimestamp: obj.GetDeletionTimestamp(),
	}
}

func (i identity) deleting() bool { return i.deletionTimestamp != nil }

// isSame is false only where both UIDs are known and differ: the fake client assigns none.
func (i identity) isSame(other identity) bool {
	return i.uid == "" || other.uid == "" || i.uid == other.uid
}

// metadata is what PatchMetadata writes, and what a rebase must find unchanged.
type metadata struct {
	labels      map[string]string
	annotations map[string]string
	finalizers  []string
	owners      []metav1.OwnerReference
}

// metadataOf shares nothing with obj but what owner references point to, which nobody changes in place.
func metadataOf(obj client.Object) metadata {
	return metadata{
		labels:      maps.Clone(obj.GetLabels()),
		annotations: maps.Clone(obj.GetAnnotations()),
		finalizers:  slices.Clone(obj.GetFinalizers()),
		owners:      slices.Clone(obj.GetOwnerReferences()),
	}
}

func (m metadata) copyTo(obj client.Object) {
	obj.SetLabels(maps.Clone(m.labels))
	obj.SetAnnotations(maps.Clone(m.annotations))
	obj.SetFinalizers(slices.Clone(m.finalizers))
	obj.SetOwnerReferences(slices.Clone(m.owners))
}

// equals compares with the object as it is, without copying it.
func (m metadata) equals(obj client.Object) bool {
	return m.sameLabels(obj) &&
		slices.Equal(m.finalizers, obj.GetFinalizers()) &&
		slices.EqualFunc(m.owners, obj.GetOwnerReferences(), equalOwner)
}

func (m metadata) sameLabels(obj client.Object) bool {
	return maps.Equal(m.labels, obj.GetLabels()) && maps.Equal(m.annotations, obj.GetAnnotations())
}

func equalOwner(a, b metav1.OwnerReference) bool {
	if !EqualPointer(a.Controller, b.Controller) || !EqualPointer(a.BlockOwnerDeletion, b.BlockOwnerDeletion) {
		return false
	}
	a.Controller, a.BlockOwnerDeletion = b.Controller, b.BlockOwnerDeletion
	return a == b
}

// carryOver writes to obj the metadata that was acknowledged, and on top of it the edits that obj has against m and that
// nobody has saved yet.
func (m metadata) carryOver(obj client.Object, acknowledged metadata) {
	obj.SetLabels(mergeMap(m.labels, obj.GetLabels(), acknowledged.labels))
	obj.SetAnnotations(mergeMap(m.annotations, obj.GetAnnotations(), acknowledged.annotations))
	obj.SetFinalizers(mergeList(m.finalizers, obj.GetFinalizers(), acknowledged.finalizers, func(f string) string { return f }))
	obj.SetOwnerReferences(mergeList(m.owners, obj.GetOwnerReferences(), acknowledged.owners,
		func(o metav1.OwnerReference) types.UID { return o.UID }))
}

func mergeMap(base, edited, acknowledged map[string]string) map[string]string {
	merged := maps.Clone(acknowledged)
	for key, value := range edited {
		if old, ok := base[key]; !ok || old != value {
			if merged == nil {
				merged = map[string]string{}
			}
			merged[key] = value
		}
	}
	for key := range base {
		if _, ok := edited[key]; !ok {
			delete(merged, key)
		}
	}
	return merged
}

func mergeList[V any, K comparable](base, edited, acknowledged []V, key func(V) K) []V {
	has := func(list []V, v V) bool {
		return slices.ContainsFunc(list, func(other V) bool { return key(other) == key(v) })
	}
	merged := slices.DeleteFunc(slices.Clone(acknowledged), func(v V) bool {
		return has(base, v) && !has(edited, v)
	})
	for _, v := range edited {
		if !has(base, v) && !has(merged, v) {
			merged = append(merged, v)
		}
	}
	return merged
}
