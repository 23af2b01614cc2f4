package patcher

import (
	"maps"
	"math"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The functions below are the vocabulary of generated equality: what they call equal has the same JSON. They are strict
// where that costs less than to look: nil and empty differ. A strict "different" is never wrong, since the real diff then
// decides; a lenient "equal" could skip a write.

// EqualTime reports whether a and b have the same JSON, which has whole seconds and no location: a time that was read back
// equals the one with a fraction that was written.
func EqualTime(a, b *metav1.Time) bool {
	return *a == *b || a.Unix() == b.Unix() && a.IsZero() == b.IsZero()
}

// EqualCondition reports whether a and b have the same JSON. It compares the fields that a later API version may add, too.
func EqualCondition(a, b *metav1.Condition) bool {
	if *a == *b || !EqualTime(&a.LastTransitionTime, &b.LastTransitionTime) {
		return *a == *b
	}
	same := *a
	same.LastTransitionTime = b.LastTransitionTime
	return same == *b
}

// EqualFloat reports whether a and b are the same bits: 0 and -0 are equal numbers, and differ as JSON.
func EqualFloat[F ~float32 | ~float64](a, b *F) bool {
	return math.Float64bits(float64(*a)) == math.Float64bits(float64(*b))
}

// EqualPointer reports whether a and b are both nil, or point to equal values.
func EqualPointer[V comparable](a, b *V) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// EqualPointerFunc is EqualPointer for values that equal compares.
func EqualPointerFunc[V any](a, b *V, equal func(a, b *V) bool) bool {
	return a == b || a != nil && b != nil && equal(a, b)
}

// EqualSlice reports whether a and b are both nil or neither is, and have equal elements in the same order.
func EqualSlice[S ~[]V, V comparable](a, b S) bool {
	return (a == nil) == (b == nil) && slices.Equal(a, b)
}

// EqualSliceFunc is EqualSlice for elements that equal compares.
func EqualSliceFunc[S ~[]V, V any](a, b S, equal func(a, b *V) bool) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

// EqualMap reports whether a and b are both nil or neither is, and have the same keys with equal values.
func EqualMap[M ~map[K]V, K, V comparable](a, b M) bool {
	return (a == nil) == (b == nil) && maps.Equal(a, b)
}

// EqualMapFunc is EqualMap for values that equal compares.
func EqualMapFunc[M ~map[K]V, K comparable, V any](a, b M, equal func(a, b *V) bool) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) {
		return false
	}
	for key, av := range a {
		bv, ok := b[key]
		if !ok || !equal(&av, &bv) {
			return false
		}
	}
	return true
}

// EqualDeep is reflect.DeepEqual, for types that generated code cannot compare field by field: those with fields that are
// not exported, and those of other modules, which an upgrade may change.
func EqualDeep[V any](a, b *V) bool { return reflect.DeepEqual(a, b) }

// Trim clears *base and *status when they are equal. Generated code calls it for the fields whose zero value has no
// JSON, so that a diff marshals only what changed.
func Trim[V any](base, status *V, equal bool) {
	if equal {
		var zero V
		*base, *status = zero, zero
	}
}
