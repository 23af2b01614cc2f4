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
	owners              []owner
}

// owner is an owner reference that shares nothing with the one it is a copy of.
type owner struct {
	ref               metav1.OwnerReference // without its pointers
	controller, block optional
}

// optional is a *bool.
type optional struct{ set, value bool }

func optionalOf(p *bool) optional {
	if p == nil {
		return optional{}
	}
	return optional{set: true, value: *p}
}

func (o optional) pointer() *bool {
	if !o.set {
		return nil
	}
	return &o.value
}

func ownerOf(ref metav1.OwnerReference) owner {
	o := owner{ref: ref, controller: optionalOf(ref.Controller), block: optionalOf(ref.BlockOwnerDeletion)}
	o.ref.Controller, o.ref.BlockOwnerDeletion = nil, nil
	return o
}

func (o owner) reference() metav1.OwnerReference {
	ref := o.ref
	ref.Controller, ref.BlockOwnerDeletion = o.controller.pointer(), o.block.pointer()
	return ref
}

func ownersOf(refs []metav1.OwnerReference) []owner {
	if len(refs) == 0 {
		return nil
	}
	owners := make([]owner, len(refs))
	for i, ref := range refs {
		owners[i] = ownerOf(ref)
	}
	return owners
}

func references(owners []owner) []metav1.OwnerReference {
	if len(owners) == 0 {
		return nil
	}
	refs := make([]metav1.OwnerReference, len(owners))
	for i, o := range owners {
		refs[i] = o.reference()
	}
	return refs
}

// metadataOf shares nothing with obj.
func metadataOf(obj client.Object) (m metadata) {
	m.read(obj, nil)
	return m
}

// read is metadataOf into m, which is empty; the text goes into room where that is large enough. It runs at every fetch,
// and a metadata that is returned is copied twice.
func (m *metadata) read(obj client.Object, room []string) {
	labels, annotations, finalizers := obj.GetLabels(), obj.GetAnnotations(), obj.GetFinalizers()
	m.labels, m.annotations, m.owners = len(labels), len(annotations), ownersOf(obj.GetOwnerReferences())
	text := slices.Grow(room, 2*len(labels)+2*len(annotations)+len(finalizers))
	for key, value := range labels {
		text = append(text, key, value)
	}
	for key, value := range annotations {
		text = append(text, key, value)
	}
	m.text = append(text, finalizers...)
}

// clone shares no memory with m, whose text may be inside a patcher. The text goes into room if that is large enough.
func (m metadata) clone(room []string) metadata {
	m.text = append(room, m.text...)
	return m
}

func (m metadata) labelPairs() []string      { return m.text[:2*m.labels] }
func (m metadata) annotationPairs() []string { return m.text[2*m.labels : 2*(m.labels+m.annotations)] }
func (m metadata) finalizers() []string      { return m.text[2*(m.labels+m.annotations):] }

func (m metadata) copyTo(obj client.Object) {
	obj.SetLabels(mapOf(m.labelPairs()))
	obj.SetAnnotations(mapOf(m.annotationPairs()))
	obj.SetFinalizers(slices.Clone(m.finalizers()))
	obj.SetOwnerReferences(references(m.owners))
}

// equals compares with the object as it is.
func (m metadata) equals(obj client.Object) bool {
	return m.sameLabels(obj) &&
		slices.Equal(m.finalizers(), obj.GetFinalizers()) &&
		slices.EqualFunc(m.owners, obj.GetOwnerReferences(), func(o owner, ref metav1.OwnerReference) bool { return o == ownerOf(ref) })
}

// sameLabels compares labels and annotations.
func (m metadata) sameLabels(obj client.Object) bool {
	return samePairs(m.labelPairs(), obj.GetLabels()) && samePairs(m.annotationPairs(), obj.GetAnnotations())
}

// isPartOf reports whether obj has all labels and annotations of m, with the same values.
func (m metadata) isPartOf(obj client.Object) bool {
	return hasPairs(obj.GetLabels(), m.labelPairs()) && hasPairs(obj.GetAnnotations(), m.annotationPairs())
}

// carryOver writes to obj the metadata that was acknowledged, and on top of it the edits that obj has against m and that
// nobody has saved yet.
func (m metadata) carryOver(obj client.Object, acknowledged metadata) {
	obj.SetLabels(mergeMap(mapOf(m.labelPairs()), obj.GetLabels(), mapOf(acknowledged.labelPairs())))
	obj.SetAnnotations(mergeMap(mapOf(m.annotationPairs()), obj.GetAnnotations(), mapOf(acknowledged.annotationPairs())))
	obj.SetFinalizers(mergeList(m.finalizers(), obj.GetFinalizers(), acknowledged.finalizers(),
		func(finalizer string) string { return finalizer }))
	obj.SetOwnerReferences(references(mergeList(m.owners, ownersOf(obj.GetOwnerReferences()), acknowledged.owners,
		func(o owner) types.UID { return o.ref.UID })))
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
	return len(pairs) == 2*len(m) && hasPairs(m, pairs)
}

func hasPairs(m map[string]string, pairs []string) bool {
	for i := 0; i < len(pairs); i += 2 {
		if value, ok := m[pairs[i]]; !ok || value != pairs[i+1] {
			return false
		}
	}
	return true
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

// mergeList returns what was acknowledged, with the edits against base on top: entries that were removed, changed or added.
func mergeList[V, K comparable](base, edited, acknowledged []V, key func(V) K) []V {
	merged := slices.DeleteFunc(slices.Clone(acknowledged), func(v V) bool {
		return find(base, key(v), key) >= 0 && find(edited, key(v), key) < 0
	})
	for _, v := range edited {
		in, at := find(base, key(v), key), find(merged, key(v), key)
		switch {
		case in >= 0 && at >= 0 && base[in] != v:
			merged[at] = v
		case in < 0 && at < 0:
			merged = append(merged, v)
		}
	}
	return merged
}

func find[V any, K comparable](list []V, wanted K, key func(V) K) int {
	return slices.IndexFunc(list, func(v V) bool { return key(v) == wanted })
}
