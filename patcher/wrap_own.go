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

// ownWrites remembers which writes of a reconcile led from one version of an object to another. A reconcile often writes an object in
// several requests that are all made of the version that it read, such as the conditions, then a finalizer, then the rest of the
// status. The lock of that version would make the second request conflict with the first, each time.
//
// Only writes between whose two versions nobody else wrote are followed: those that the API server made under a lock, and those of metadata
// or spec whose answer holds what was sent, and the status that was read. And only those of one reconcile, which knows what it has written
// itself. Two writers that share any other context may not know of each other.
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

// step is the version that a write of a reconcile led to.
type step struct {
	reconcile       types.UID
	uid             types.UID
	resourceVersion string
}

func newOwnWrites() *ownWrites {
	return &ownWrites{steps: recent[stepKey, step]{limit: maxBases, age: maxLag}}
}

// maxSteps is how many writes of one object are followed. It bounds what a loop of versions could cost.
const maxSteps = 32

// follow remembers a write: a step, or that there is none from the version that was just written. What is known of such a version is of
// an object of the same name that is gone, since the fake client counts versions anew for each object.
func (o *ownWrites) follow(written stepKey, lock string, next step) {
	from := written
	from.resourceVersion = lock
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps.delete(written)
	if next.reconcile != "" && !isNoVersion(lock) && lock != written.resourceVersion {
		o.steps.put(time.Now(), from, next)
	}
}

// read notes that a reconcile has read a version again, from a cache that lags behind its own writes. What it decides from now on knows
// nothing of them.
func (o *ownWrites) read(reconcile types.UID, key stepKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if next, ok := o.steps.get(key); ok && next.reconcile == reconcile {
		o.steps.delete(key)
	}
}

// last returns the newest version that the writes of a reconcile led to from the key's, and the UID of the object. It is the key's own
// version if there were none.
func (o *ownWrites) last(reconcile types.UID, key stepKey) (stepKey, types.UID) {
	var uid types.UID
	o.mu.Lock()
	defer o.mu.Unlock()
	for range maxSteps {
		next, ok := o.steps.get(key)
		if !ok || next.reconcile != reconcile {
			break
		}
		key.resourceVersion, uid = next.resourceVersion, next.uid
	}
	return key, uid
}

// WithReconcileID says to which reconcile a context belongs: pass controller.ReconcileIDFromContext of controller-runtime. A status write
// in mode Lock that is made of the version which a reconcile has read then does not conflict with what the same reconcile has written
// since under a lock, if that changed nothing that this one writes. Without it, or where id returns "", every write is locked to the
// version of its object, whoever wrote in between.
func WithReconcileID(id func(ctx context.Context) types.UID) WrapOption {
	return func(w *WrappedClient) { w.options.reconcileID = id }
}

// reconcileOf returns the ID of the reconcile that a context belongs to, or "".
func (w *WrappedClient) reconcileOf(ctx context.Context) types.UID {
	if w.options.reconcileID == nil {
		return ""
	}
	return w.options.reconcileID(ctx)
}

// A sentObject is what is needed of an object before a write that the answer replaces.
type sentObject struct {
	resourceVersion string
	generation      int64
	// content is set for a write without a lock, within a reconcile that is known.
	content content
	hashed  bool
}

func (w *WrappedClient) beforeWrite(ctx context.Context, obj client.Object, r request) sentObject {
	sent := sentObject{resourceVersion: obj.GetResourceVersion(), generation: obj.GetGeneration()}
	if w.mode == Lock && !r.ofStatus && r.lock == "" && !isNoVersion(sent.resourceVersion) && w.remembers(obj) && w.reconcileOf(ctx) != "" {
		sent.content, sent.hashed = contentHash(obj)
	}
	return sent
}

// follow remembers a write that is stored in obj.
func (w *WrappedClient) follow(ctx context.Context, kind *boundKind, obj client.Object, sent sentObject, r request) {
	written := stepKey{kind.kind, client.ObjectKeyFromObject(obj), obj.GetResourceVersion()}
	before := written
	before.resourceVersion = sent.resourceVersion
	if !r.ofStatus && w.mode == Lock {
		w.successors.put(before, obj)
	}
	if !r.ofStatus && r.lock == "" && !isNoVersion(sent.resourceVersion) {
		same, known := kind.sameStatus(before, written, obj.GetUID())
		if known && !same || r.onlyMetadata && obj.GetGeneration() != sent.generation {
			w.overtaken.add(written, obj)
		}
		if same && sent.isStoredIn(obj) { // nobody else changed anything in between
			r.lock = sent.resourceVersion
		}
	}
	w.own.follow(written, r.lock, step{w.reconcileOf(ctx), obj.GetUID(), obj.GetResourceVersion()})
}

// isStoredIn reports whether obj, the answer to the write, has the content that was sent.
func (s sentObject) isStoredIn(obj client.Object) bool {
	if !s.hashed {
		return false
	}
	stored, ok := contentHash(obj)
	return ok && stored == s.content
}

// read notes that an object was read: what is decided on it now is decided on its version.
func (w *WrappedClient) read(ctx context.Context, obj client.Object) {
	key := stepKey{w.kinds.ofType(obj).kind, client.ObjectKeyFromObject(obj), obj.GetResourceVersion()}
	w.overtaken.read(key, obj)
	if reconcile := w.reconcileOf(ctx); reconcile != "" {
		w.own.read(reconcile, key)
	}
}

// sameStatus reports whether the status was the same in two versions. Both must be remembered for that to be known.
func (k *boundKind) sameStatus(from, to stepKey, uid types.UID) (same, known bool) {
	before, after, known := k.client.statuses(from.base(uid), to.base(uid))
	return known && reflect.DeepEqual(before, after), known
}

// lockFor returns the version to lock a blind patch to: that of its object, or a newer one that it is as good as made of: one that has the
// same content, or to which the writes of its own reconcile have led, if they changed nothing that the patch writes.
func (w *WrappedClient) lockFor(ctx context.Context, found blindWrite, patch []byte) string {
	read := stepKey{found.kind.kind, client.ObjectKeyFromObject(found.obj), found.obj.GetResourceVersion()}
	if version, ok := w.successorOf(found.kind, found.obj, read); ok {
		return version
	}
	reconcile := w.reconcileOf(ctx)
	if reconcile == "" || found.class != BlindMerge {
		return read.resourceVersion
	}
	newest, uid := w.own.last(reconcile, read)
	var body struct{ Status any }
	if newest == read || json.Unmarshal(patch, &body) != nil {
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
