package realserver

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Drain is a reconciler around another that tells when reconciles are over. To poll the object cannot: the status that
// one waits for may be there while the reconcile goes on, or have been there before it began.
//
// A reconcile counts as started after a resourceVersion if the reader that it decides on had reached that version when it
// began. It is safe for concurrent use.
type Drain struct {
	inner  reconcile.Reconciler
	reader client.Reader
	kind   client.Object

	mu      sync.Mutex
	keys    map[reconcile.Request]*drainKey
	changed chan struct{} // closed and replaced when a reconcile begins or ends
}

// drainKey is what is known about the reconciles of one object.
type drainKey struct {
	seen    uint64         // highest version at the start of any reconcile
	ended   uint64         // highest version at the start of a reconcile that has ended
	running map[uint64]int // reconciles that run, by the version at their start
}

// NewDrain wraps inner, which reconciles objects of obj's type and reads them from reader: the manager's client, as a rule.
// The controller is built with the Drain in place of inner; each manager has its own.
func NewDrain(inner reconcile.Reconciler, reader client.Reader, obj client.Object) *Drain {
	return &Drain{inner: inner, reader: reader, kind: obj, keys: map[reconcile.Request]*drainKey{}, changed: make(chan struct{})}
}

// Reconcile notes which version the reader has reached, runs inner, and returns what it returns.
func (d *Drain) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	version, err := d.version(ctx, req)
	if err != nil {
		return reconcile.Result{}, err
	}
	version = d.begin(req, version)
	defer d.end(req, version) // also when inner panics
	return d.inner.Reconcile(ctx, req)
}

// Wait blocks until a reconcile of obj that started after obj's resourceVersion has ended, and no such reconcile is still
// running. obj is what a write returned. It does not wait for reconciles that are queued behind: they start after another
// write, or a delay. The error, when ctx is done, says how far the reconciles have come.
func (d *Drain) Wait(ctx context.Context, obj client.Object) error {
	want, err := parseVersion(obj)
	if err != nil {
		return err
	}
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
	for {
		d.mu.Lock()
		changed := d.changed
		key := *d.key(req)
		running := key.runningSince(want)
		d.mu.Unlock()
		if key.ended >= want && running == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("expected a reconcile of %s that started at resourceVersion %d or later to end, found the latest to end"+
				" started at %d, and %d that run: %w", req, want, key.ended, running, context.Cause(ctx))
		}
	}
}

// version is that of the object in the reader, or 0 if it is not there.
func (d *Drain) version(ctx context.Context, req reconcile.Request) (uint64, error) {
	obj := d.kind.DeepCopyObject().(client.Object)
	if err := d.reader.Get(ctx, req.NamespacedName, obj); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	return parseVersion(obj)
}

// begin returns the version that the reconcile counts with. An object that is gone from the reader was deleted after all
// versions that were seen in it.
func (d *Drain) begin(req reconcile.Request, version uint64) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.key(req)
	key.seen = max(key.seen, version)
	if version == 0 {
		version = key.seen
	}
	key.running[version]++
	d.broadcast()
	return version
}

func (d *Drain) end(req reconcile.Request, version uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.key(req)
	key.ended = max(key.ended, version)
	if key.running[version]--; key.running[version] == 0 {
		delete(key.running, version)
	}
	d.broadcast()
}

func (d *Drain) key(req reconcile.Request) *drainKey {
	if d.keys[req] == nil {
		d.keys[req] = &drainKey{running: map[uint64]int{}}
	}
	return d.keys[req]
}

func (d *Drain) broadcast() {
	close(d.changed)
	d.changed = make(chan struct{})
}

func (k drainKey) runningSince(version uint64) int {
	count := 0
	for started, n := range k.running {
		if started >= version {
			count += n
		}
	}
	return count
}

// parseVersion reads a resourceVersion as the number that kube-apiserver makes it.
func parseVersion(obj client.Object) (uint64, error) {
	version, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("expected the resourceVersion of an object that was written or read, found %q in %T %s",
			obj.GetResourceVersion(), obj, client.ObjectKeyFromObject(obj))
	}
	return version, nil
}
