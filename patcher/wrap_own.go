package patcher

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownWrites remembers which writes of this client led from one version of an object to another. A reconcile often writes an object in
// several requests that are all made of the version that it read, such as the conditions, then a finalizer, then the rest of the
// status. The lock of that version would make the second request conflict with the first, each time.
//
// What a later request may have been decided on must be as it was read. So only those writes are followed that are not of the status,
// and patches of nothing but conditions that the caller has locked. Patch helpers write conditions in this way.
type ownWrites struct {
	mu    sync.Mutex
	steps recent[stepKey, step]
}

// stepKey is the version that a write was made on. It has no UID: some patch helpers send objects without one.
type stepKey struct {
	kind            AnyKind
	key             client.ObjectKey
	resourceVersion string
}

func (k stepKey) base(uid types.UID) baseKey { return keyOfBase(k.key, uid, k.resourceVersion) }

// step is the version that a write led to. A reconcile is known by its context: two of them never share one.
type step struct {
	ctx             context.Context
	uid             types.UID
	resourceVersion string
}

func newOwnWrites() *ownWrites {
	return &ownWrites{steps: recent[stepKey, step]{limit: maxBases, age: maxLag}}
}

// maxSteps is how many writes of one object are followed. It bounds what a loop of versions could cost.
const maxSteps = 32

// add remembers that a write on the key's version led to another one, on which nothing has been written yet. What is known of that one
// is of an object of the same name that is gone: the fake client counts versions anew for each object.
func (o *ownWrites) add(key stepKey, next step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !isNoVersion(key.resourceVersion) && key.resourceVersion != next.resourceVersion && identifies(next.ctx) {
		o.steps.put(time.Now(), key, next)
	}
	key.resourceVersion = next.resourceVersion
	o.steps.delete(key)
}

// last returns the newest version that the writes of this context led to from the key's, and the UID of the object. It is the key's own
// version if there were none.
func (o *ownWrites) last(ctx context.Context, key stepKey) (stepKey, types.UID) {
	var uid types.UID
	if !identifies(ctx) {
		return key, uid
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for range maxSteps {
		next, ok := o.steps.get(key)
		if !ok || next.ctx != ctx {
			break
		}
		key.resourceVersion, uid = next.resourceVersion, next.uid
	}
	return key, uid
}

// identifies reports whether a context can tell one reconcile from another.
func identifies(ctx context.Context) bool {
	return reflect.ValueOf(ctx).Comparable() && ctx != context.Background() && ctx != context.TODO()
}

// A stored is what the API server stored for a write.
type stored struct {
	terms
	kind *boundKind
	// before is the version that the object carried.
	before string
	obj    client.Object
}

// follow remembers a write as a step of its context, if nothing else was written between the versions and the status that a later
// request may have been decided on is as it was.
func (w *WrappedClient) follow(ctx context.Context, s stored) {
	from := stepKey{s.kind.kind, client.ObjectKeyFromObject(s.obj), s.before}
	switch {
	case isNoVersion(s.before): // it was created, perhaps
	case s.status && !s.conditions:
		return
	case !isNoVersion(s.lock):
		from.resourceVersion = s.lock
	default:
		from, _ = w.own.last(ctx, from)
		if !s.kind.client.keptStatus(from.base(s.obj.GetUID()), s.obj, s.spec) {
			return
		}
	}
	w.own.add(from, step{ctx, s.obj.GetUID(), s.obj.GetResourceVersion()})
}

// lockFor returns the version to lock a blind merge patch to: that of its object, or the one that the writes of its own context have
// led to since, if they changed nothing that the patch writes.
func (w *WrappedClient) lockFor(ctx context.Context, found blindWrite, patch []byte) string {
	read := stepKey{found.kind.kind, client.ObjectKeyFromObject(found.obj), found.obj.GetResourceVersion()}
	newest, uid := w.own.last(ctx, read)
	if newest == read || found.class != BlindMerge {
		return read.resourceVersion
	}
	var body struct{ Status any }
	if json.Unmarshal(patch, &body) != nil {
		return read.resourceVersion
	}
	from, to, ok := found.kind.client.statuses(read.base(uid), newest.base(uid))
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
