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
// What a later request may have been decided on must be as it was read, except for what its own reconcile has written since. So only
// those writes are followed that are not of the status, and merge patches of the status that the caller has locked: such a helper says
// which fields it writes, and on which version. Patch helpers write conditions in this way, others the phase.
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

// step is the version that a write led to.
type step struct {
	// ctx is that of the reconcile: two of them never share one. It is nil for the contexts that everybody shares.
	ctx             context.Context
	uid             types.UID
	resourceVersion string
}

func newOwnWrites() *ownWrites {
	return &ownWrites{steps: recent[stepKey, step]{limit: maxBases, age: maxLag}}
}

// maxSteps is how many writes of one object are followed. It bounds what a loop of versions could cost.
const maxSteps = 32

// add remembers that a write on the key's version led to another one.
func (o *ownWrites) add(key stepKey, next step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !isNoVersion(key.resourceVersion) && key.resourceVersion != next.resourceVersion {
		o.steps.put(time.Now(), key, next)
	}
}

// begin is called for a version that was just written: nothing has been written on it yet. What is known of such a version is of an
// object of the same name that is gone, since the fake client counts versions anew for each object.
func (o *ownWrites) begin(key stepKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps.delete(key)
}

// last returns the newest version that the writes of this context led to from the key's, and the UID of the object. It is the key's own
// version if there were none.
func (o *ownWrites) last(ctx context.Context, key stepKey) (stepKey, types.UID) {
	var uid types.UID
	ctx = identityOfContext(ctx)
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

// identityOfContext returns ctx if it can tell one reconcile from another, and else nil.
func identityOfContext(ctx context.Context) context.Context {
	if !reflect.ValueOf(ctx).Comparable() || ctx == context.Background() || ctx == context.TODO() {
		return nil
	}
	return ctx
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
	key := stepKey{s.kind.kind, client.ObjectKeyFromObject(s.obj), s.obj.GetResourceVersion()}
	w.own.begin(key)
	if from, ok := w.origin(ctx, s); ok {
		key.resourceVersion = from
		w.own.add(key, step{identityOfContext(ctx), s.obj.GetUID(), s.obj.GetResourceVersion()})
	}
}

// origin returns the version that a write was made on, if the write is to be followed.
func (w *WrappedClient) origin(ctx context.Context, s stored) (resourceVersion string, ok bool) {
	from := stepKey{s.kind.kind, client.ObjectKeyFromObject(s.obj), s.before}
	shared := identityOfContext(ctx) == nil
	switch {
	case isNoVersion(s.before): // it was created, perhaps
		return "", false
	case s.status && !s.callerLocked:
		return "", false
	case !isNoVersion(s.lock):
		from.resourceVersion = s.lock
		if !shared {
			return s.lock, true
		}
	default:
		from, _ = w.own.last(ctx, from)
	}
	// By a context that others share, only what changed neither the spec nor the status is followed, whoever wrote it.
	return from.resourceVersion, s.kind.client.keptStatus(from.base(s.obj.GetUID()), s.obj, s.spec && !shared)
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
