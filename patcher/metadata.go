package patcher

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// metadata is a copy of what PatchMetadata writes and what a rebase must find unchanged. It is made at every fetch and
// mostly never looked at, so it is one flat list rather than two maps.
type metadata struct {
	// text has the labels as pairs of key and value, then the annotations, then the finalizers.
	text                []string
	labels, annotations int
	owners              []metav1.OwnerReference
}

// metadataOf shares nothing with obj but what owner references point to, which nobody changes in place.
func metadataOf(obj client.Object) (m metadata) {
	m.read(obj, nil)
	return m
}

// read is metadataOf into m, which is empty; the text goes into room where that is large enough. It runs at every fetch,
// and a metadata that is returned is copied twice.
func (m *metadata) read(obj client.Object, room []string) {
	labels, annotations, finalizers := obj.GetLabels(), obj.GetAnnotations(), obj.GetFinalizers()
	m.labels, m.annotations, m.owners = len(labels), len(annotations), slices.Clone(obj.GetOwnerReferences())
	text := slices.Grow(room, 2*len(labels)+2*len(annotations)+len(finalizers))
	for key, value := range labels {
		text = append(text, key, value)
	}
	for key, value := range annotations {
		text = append(text, key, value)
	}
	m.text = append(text, finalizers...)
}

func (m metadata) labelPairs() []string      { return m.text[:2*m.labels] }
func (m metadata) annotationPairs() []string { return m.text[2*m.labels : 2*(m.labels+m.annotations)] }
func (m metadata) finalizers() []string      { return m.text[2*(m.labels+m.annotations):] }

func (m metadata) copyTo(obj client.Object) {
	obj.SetLabels(mapOf(m.labelPairs()))
	obj.SetAnnotations(mapOf(m.annotationPairs()))
	obj.SetFinalizers(slices.Clone(m.finalizers()))
	obj.SetOwnerReferences(slices.Clone(m.owners))
}

// equals compares with the object as it is.
func (m metadata) equals(obj client.Object) bool {
	return m.sameLabels(obj) &&
		slices.Equal(m.finalizers(), obj.GetFinalizers()) &&
		slices.EqualFunc(m.owners, obj.GetOwnerReferences(), equalOwner)
}

// sameLabels compares labels and annotations.
func (m metadata) sameLabels(obj client.Object) bool {
	return samePairs(m.labelPairs(), obj.GetLabels()) && samePairs(m.annotationPairs(), obj.GetAnnotations())
}

// carryOver writes to obj the metadata that was acknowledged, and on top of it the edits that obj has against m and that
// nobody has saved yet.
func (m metadata) carryOver(obj client.Object, acknowledged metadata) {
	obj.SetLabels(mergeMap(mapOf(m.labelPairs()), obj.GetLabels(), mapOf(acknowledged.labelPairs())))
	obj.SetAnnotations(mergeMap(mapOf(m.annotationPairs()), obj.GetAnnotations(), mapOf(acknowledged.annotationPairs())))
	obj.SetFinalizers(mergeList(m.finalizers(), obj.GetFinalizers(), acknowledged.finalizers(),
		func(finalizer string) string { return finalizer }))
	obj.SetOwnerReferences(mergeList(m.owners, obj.GetOwnerReferences(), acknowledged.owners,
		func(owner metav1.OwnerReference) types.UID { return owner.UID }))
}

func mapOf(pairs []string) map[string]string {
	if len(pairs) == 0 {
		return nil
	}
	m := make(map[string]string, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func samePairs(pairs []string, m map[string]string) bool {
	if len(pairs) != 2*len(m) {
		return false
	}
	for i := 0; i < len(pairs); i += 2 {
		if value, ok := m[pairs[i]]; !ok || value != pairs[i+1] {
			return false
		}
	}
	return true
}

func equalOwner(a, b metav1.OwnerReference) bool {
	if !EqualPointer(a.Controller, b.Controller) || !EqualPointer(a.BlockOwnerDeletion, b.BlockOwnerDeletion) {
		return false
	}
	a.Controller, a.BlockOwnerDeletion = b.Controller, b.BlockOwnerDeletion
	return a == b
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
