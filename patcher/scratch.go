package patcher

import (
	"reflect"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scratch is an object for PatchMetadata's mutate to work on: the caller's, with metadata of its own. It is used again, so
// that a mutate that changes nothing allocates nothing.
type scratch[T client.Object] struct {
	// work is what mutate gets, shown is work as it was before, and empty is always empty.
	work, shown, empty T

	labels, annotations map[string]string
	finalizers          []string
	owners              []metav1.OwnerReference
	flags               []bool // what the pointers of owners point to
}

// scratches keeps one scratch of a kind. A second one that is needed at the same time is made.
type scratches[T client.Object] struct{ free atomic.Pointer[scratch[T]] }

func (s *scratches[T]) take(kind interface{ newObject() T }) *scratch[T] {
	if free := s.free.Swap(nil); free != nil {
		return free
	}
	return &scratch[T]{
		work: kind.newObject(), shown: kind.newObject(), empty: kind.newObject(),
		labels: map[string]string{}, annotations: map[string]string{},
	}
}

// giveBack forgets the caller's object.
func (s *scratches[T]) giveBack(kind interface{ assign(dst, src T) }, used *scratch[T]) {
	kind.assign(used.work, used.empty)
	kind.assign(used.shown, used.empty)
	s.free.Store(used)
}

func (k *Kind[T, S]) newObject() T      { return k.New() }
func (k *Kind[T, S]) assign(dst, src T) { k.Assign(dst, src) }

// show makes work the caller's object, with the metadata of m and the version of on.
func (s *scratch[T]) show(kind interface{ assign(dst, src T) }, obj T, on identity, m metadata) {
	kind.assign(s.work, obj)
	s.work.SetResourceVersion(on.resourceVersion)
	s.work.SetLabels(fill(s.labels, m.labelPairs()))
	s.work.SetAnnotations(fill(s.annotations, m.annotationPairs()))
	s.finalizers = append(s.finalizers[:0], m.finalizers()...)
	s.work.SetFinalizers(clip(s.finalizers))
	s.work.SetOwnerReferences(s.ownersOf(m))
	kind.assign(s.shown, s.work)
}

func (s *scratch[T]) ownersOf(m metadata) []metav1.OwnerReference {
	s.owners, s.flags = s.owners[:0], s.flags[:0]
	for _, o := range m.owners {
		s.owners, s.flags = append(s.owners, o.ref), append(s.flags, o.controller.value, o.block.value)
	}
	for i, o := range m.owners {
		if o.controller.set {
			s.owners[i].Controller = &s.flags[2*i]
		}
		if o.block.set {
			s.owners[i].BlockOwnerDeletion = &s.flags[2*i+1]
		}
	}
	return clip(s.owners)
}

// isUntouched reports whether mutate has replaced nothing but what metadata.equals compares. What the two objects point to,
// they share. A false that is wrong costs the time of a real diff.
func (s *scratch[T]) isUntouched() bool {
	s.work.SetLabels(s.shown.GetLabels())
	s.work.SetAnnotations(s.shown.GetAnnotations())
	s.work.SetFinalizers(s.shown.GetFinalizers())
	s.work.SetOwnerReferences(s.shown.GetOwnerReferences())
	return sameMemory(reflect.ValueOf(s.work).Elem(), reflect.ValueOf(s.shown).Elem())
}

// sameMemory reports whether two values are equal, and what is behind pointers, maps and slices is the same.
func sameMemory(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameMemory(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range a.Len() {
			if !sameMemory(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		return a.Pointer() == b.Pointer() && a.Len() == b.Len()
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return a.Pointer() == b.Pointer()
	case reflect.Interface:
		return a.IsNil() && b.IsNil() || !a.IsNil() && !b.IsNil() && a.Elem().Type() == b.Elem().Type() && sameMemory(a.Elem(), b.Elem())
	}
	return a.Equal(b)
}

// fill makes m the map of pairs, and returns nil for none.
func fill(m map[string]string, pairs []string) map[string]string {
	clear(m)
	if len(pairs) == 0 {
		return nil
	}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// clip returns list without room to append to, and nil for an empty one.
func clip[V any](list []V) []V {
	if len(list) == 0 {
		return nil
	}
	return list[:len(list):len(list)]
}
