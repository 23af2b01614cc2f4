package patcher

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownWrites remembers which writes of this client led from one version of an object to another. A reconcile often writes an object in
// several requests that are all made of the version that it read, such as the conditions, then a finalizer, then the rest of the
// status. The lock of that version would make the second request conflict with the first, each time.
type ownWrites struct {
	mu    sync.Mutex
	steps recent[stepKey, step]
}

// stepKey is the version that a write was made on.
type stepKey struct {
	kind AnyKind
	base baseKey
}

// step is the version that a write led to. A reconcile is known by its context: two of them never share one.
type step struct {
	ctx             context.Context
	resourceVersion string
}

func newOwnWrites() *ownWrites {
	return &ownWrites{steps: recent[stepKey, step]{limit: maxBases, age: maxLag}}
}

// maxSteps is how many writes of one object are followed. It bounds what a loop of versions could cost.
const maxSteps = 32

// add remembers that a write on the key's version led to another one, on which nothing has been written yet. What is known of that one
// is of an object of the same name that is gone: the fake client assigns no UIDs, and counts versions anew for each object.
func (o *ownWrites) add(ctx context.Context, key stepKey, resourceVersion string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !isNoVersion(key.base.resourceVersion) && key.base.resourceVersion != resourceVersion && reflect.ValueOf(ctx).Comparable() {
		o.steps.put(time.Now(), key, step{ctx, resourceVersion})
	}
	key.base.resourceVersion = resourceVersion
	o.steps.delete(key)
}

// last returns the version that the writes of this context led to from the key's. It is the key's own if there were none.
func (o *ownWrites) last(ctx context.Context, key stepKey) string {
	if !reflect.ValueOf(ctx).Comparable() {
		return key.base.resourceVersion
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for range maxSteps {
		next, ok := o.steps.get(key)
		if !ok || next.ctx != ctx {
			break
		}
		key.base.resourceVersion = next.resourceVersion
	}
	return key.base.resourceVersion
}

// A stored is what the API server stored for a write.
type stored struct {
	terms
	kind *boundKind
	// before is the version that the object carried.
	before string
	obj    client.Object
}

// follow remembers a write as a step of its context, if nothing else was written between the versions: the write was locked, or it
// left the status as it was and changed the spec only if that was its purpose.
func (w *WrappedClient) follow(ctx context.Context, s stored) {
	from := baseKeyOf(s.obj)
	from.resourceVersion = s.before
	switch {
	case isNoVersion(s.before): // it was created, perhaps
	case !isNoVersion(s.lock):
		from.resourceVersion = s.lock
	default:
		from.resourceVersion = w.own.last(ctx, stepKey{s.kind.kind, from})
		if !s.kind.client.keptStatus(from, s.obj, s.spec) {
			return
		}
	}
	w.own.add(ctx, stepKey{s.kind.kind, from}, s.obj.GetResourceVersion())
}

// lockFor returns the version to lock a blind merge patch to: that of its object, or the one that the writes of its own context have
// led to since, if they changed nothing that the patch writes.
func (w *WrappedClient) lockFor(ctx context.Context, found blindWrite, patch []byte) string {
	read := baseKeyOf(found.obj)
	newest := read
	newest.resourceVersion = w.own.last(ctx, stepKey{found.kind.kind, read})
	if newest == read || found.class != BlindMerge {
		return read.resourceVersion
	}
	var body struct{ Status any }
	if json.Unmarshal(patch, &body) != nil {
		return read.resourceVersion
	}
	from, to, ok := found.kind.client.statuses(read, newest)
	if !ok || overwrites(body.Status, from, to) {
		return read.resourceVersion
	}
	return newest.resourceVersion
}

// overwrites reports whether a merge patch writes anything in which from and to differ. All are JSON values.
func overwrites(patch, from, to any) bool {
	if reflect.DeepEqual(from, to) {
		return false
	}
	members, isObject := patch.(map[string]any)
	before, wasObject := membersOf(from)
	after, staysObject := membersOf(to)
	if !isObject || !wasObject || !staysObject {
		return true
	}
	for key, value := range members {
		if overwrites(value, before[key], after[key]) {
			return true
		}
	}
	return false
}

// membersOf returns the members of a JSON object. One that is not there has none.
func membersOf(value any) (map[string]any, bool) {
	if value == nil {
		return nil, true
	}
	members, ok := value.(map[string]any)
	return members, ok
}
