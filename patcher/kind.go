package patcher

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Kind is what the runtime must know of an API type to patch its status: how to reach the status without reflection
// and how to compare it. Generated code declares one for each kind, as XKind; nobody writes it by hand. A Kind must not be
// copied after its first use: what is read of the type by reflection, and what is remembered of its objects, is in it.
//
// T is the pointer to the API type, *v1.Database; S is the type of its Status field, v1.DatabaseStatus.
type Kind[T client.Object, S any] struct {
	// Name stands in errors and metrics: "Database".
	Name string
	// New returns an empty object.
	New func() T
	// Assign copies *src to *dst, shallowly.
	Assign func(dst, src T)
	// Status returns where in the object the status is.
	Status func(T) *S
	// DeepCopyInto copies *in to *out, sharing nothing.
	DeepCopyInto func(in, out *S)
	// Equal reports whether a and b are the same value. It must be sound: true only if both have the same JSON. A false
	// that is wrong costs the time of a real diff and nothing else.
	Equal func(a, b *S) bool
	// Trim clears, in both, each field that is equal in both and whose zero value has no JSON: what it leaves is all
	// that a diff needs. The arguments are shallow copies; Trim assigns to their fields and follows no pointer.
	Trim func(base, status *S)
	// Conditions returns where in the status the conditions are; nil for a kind without, and for a status that is a nil
	// pointer.
	Conditions func(*S) *[]metav1.Condition
	// ObservedGeneration returns where in the status the observed generation is; nil for a kind without, and for a status
	// that is a nil pointer.
	ObservedGeneration func(*S) *int64
	// WriteOnce are the paths of the write-once fields, in JSON names: "plan.id".
	WriteOnce []string
	// Make makes an empty status of a nil pointer; nil for a kind whose status is not a pointer.
	Make func(*S)

	once       sync.Once
	shape      *shape
	onceFields []onceField
	owners     sync.Map // *Owner to *ownership
	memories   memories[S]
	scratch    scratches[T]
	deciding   deciding
}

// statusShape reads the status type, once for each kind.
func (k *Kind[T, S]) statusShape() *shape {
	k.once.Do(func() {
		k.shape = shapeOf(reflect.TypeFor[S]())
		if len(k.WriteOnce) > 0 {
			k.onceFields = onceFieldsOf(k.Name, reflect.TypeFor[S](), k.shape, k.WriteOnce)
		}
	})
	return k.shape
}

// ownership resolves the paths of an owner, once.
func (k *Kind[T, S]) ownership(o *Owner) *ownership {
	if known, ok := k.owners.Load(o); ok {
		return known.(*ownership)
	}
	known, _ := k.owners.LoadOrStore(o, resolveOwner(k.Name, reflect.TypeFor[S](), k.statusShape(), o))
	return known.(*ownership)
}

// readConditions returns the conditions of status, which it does not change.
func (k *Kind[T, S]) readConditions(status *S) []metav1.Condition {
	if k.Conditions == nil {
		return nil
	}
	if conditions := k.Conditions(status); conditions != nil {
		return *conditions
	}
	return nil
}

// made returns status, in which there is now a place for every field.
func (k *Kind[T, S]) made(status *S) *S {
	if k.Make != nil {
		k.Make(status)
	}
	return status
}

func (k *Kind[T, S]) statusCopy(status *S) *S {
	out := new(S)
	k.DeepCopyInto(status, out)
	return out
}

func (k *Kind[T, S]) objectCopy(obj T) T {
	return obj.DeepCopyObject().(T)
}
