package patcher

import (
	"errors"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// overtaken are the versions that a write of metadata or spec led to on top of what somebody else wrote. That write had no lock, and gave its
// object the newest version, though the caller had decided on an older state:
//
//	obj.Status.Plan = plan                       // because it was nil
//	c.Patch(ctx, obj, client.MergeFrom(base))    // obj has now the version of another writer's plan, and more
//	obj.Status.Plan = plan
//	c.Status().Update(ctx, obj)                  // erases it
//
// So the version of such an object does not lock its status, until it is read again.
type overtaken struct {
	mu    sync.Mutex
	known recent[stepKey, overtakenObject]
}

type overtakenObject struct {
	// pointer is the object whose version was moved.
	pointer uintptr
	// reread: somebody has read that version since, so other objects may be of it.
	reread bool
}

func newOvertaken() *overtaken {
	return &overtaken{known: recent[stepKey, overtakenObject]{limit: maxBases, age: maxLag}}
}

func pointerOf(obj client.Object) uintptr { return reflect.ValueOf(obj).Pointer() }

func (o *overtaken) add(written stepKey, obj client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known.put(time.Now(), written, overtakenObject{pointer: pointerOf(obj)})
}

func (o *overtaken) read(key stepKey, obj client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known, ok := o.known.get(key)
	switch {
	case !ok:
	case known.pointer == pointerOf(obj):
		o.known.delete(key)
	default:
		known.reread = true
		o.known.put(time.Now(), key, known)
	}
}

func (o *overtaken) has(key stepKey, obj client.Object) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	known, ok := o.known.get(key)
	return ok && (known.pointer == pointerOf(obj) || !known.reread)
}

// isOvertaken reports whether the version of an object is not that of the state that its status was decided on.
func (w *WrappedClient) isOvertaken(kind *boundKind, obj client.Object) bool {
	return w.captures() && kind.kind.owns(obj) &&
		w.overtaken.has(stepKey{kind.kind, client.ObjectKeyFromObject(obj), obj.GetResourceVersion()}, obj)
}

var errOvertaken = errors.New("somebody else wrote it between its read and the write of its metadata or spec, which had no lock; " +
	"please apply your changes to the latest version and try again")

func conflictOf(kind *boundKind, obj client.Object) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: kind.kind.KindName()}, obj.GetName(), errOvertaken)
}
