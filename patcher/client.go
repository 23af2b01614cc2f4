package patcher

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Client reads objects of one kind and hands out the patchers that write their status. The generated StatusClients
// wrap it. It is safe for concurrent use.
type Client[T client.Object, S any] struct {
	kind    *Kind[T, S]
	client  client.Client
	live    client.Reader
	options options
	shape   *shape
	memory  *memory[S]
	// owner is the owner whose fields alone are written; nil for all.
	owner *ownership
	// onlyCache makes an object that is not the cache's version outdated, where there is no live reader to ask.
	onlyCache bool
}

// NewClient returns a Client that reads and writes through c, and reads through live where it must not see a stale cache. All
// Clients of a kind over the same c share what they remember of its objects, so a Client may be made in each reconcile.
// NewClient panics if c or live is nil: that is a programming error, and without a live reader a retry would see the same
// stale object forever.
func NewClient[T client.Object, S any](kind *Kind[T, S], c client.Client, live client.Reader, opts ...Option) *Client[T, S] {
	if c == nil {
		panic("statuspatcher: the client of " + kind.Name + " is nil: pass mgr.GetClient()")
	}
	if live == nil {
		panic("statuspatcher: the live reader of " + kind.Name + " is nil: pass mgr.GetAPIReader(), or patcher.NoLiveReader where only Flush is used")
	}
	if wrapped, ok := c.(interface{ unwrapped() client.Client }); ok {
		c = wrapped.unwrapped() // what a StatusClient sends is checked, and it captures by itself
	}
	if observer, ok := c.(kindObserver); ok {
		observer.ObserveKind(kind)
	}
	sc := &Client[T, S]{kind: kind, client: c, live: live, options: newOptions(opts), shape: kind.statusShape(), memory: kind.memories.of(c)}
	if sc.options.rebase && !sc.hasLiveReader() {
		panic("statuspatcher: RebaseOnConflict of " + kind.Name + " needs a live reader: pass mgr.GetAPIReader()")
	}
	return sc
}

// NewOwnerClient is NewClient for one owner of a status that several controllers share. Its patchers write what the owner declares, and
// nothing else: a change to anything else is a *NotOwnedError, before any request. If the owner declares what it reads, a Flush that
// conflicts reads live, and is written onto the live status if nothing has changed that the owner decided on. The owner must not be
// changed afterwards.
func NewOwnerClient[T client.Object, S any](kind *Kind[T, S], owner *Owner, c client.Client, live client.Reader, opts ...Option) *Client[T, S] {
	sc := NewClient(kind, c, live, opts...)
	if sc.owner = kind.ownership(owner); owner.Rebases && !sc.hasLiveReader() {
		panic("statuspatcher: owner " + owner.Name + " of " + kind.Name + " needs a live reader to rebase: pass mgr.GetAPIReader()")
	}
	return sc
}

// kindObserver is a client that wants to know which kinds are used with it: the one of the test kit, which then demands what the
// kinds promise.
type kindObserver interface{ ObserveKind(kind AnyKind) }

func (c *Client[T, S]) hasLiveReader() bool {
	_, none := c.live.(noLiveReader)
	return !none
}

// Fetch reads the object and captures its base into p, which must be new. If the cache returns a version that is known to be
// superseded, by a write of this process or by a conflict, Fetch reads again, live; the options are not passed to that read.
// Its error is the client's own, such as a NotFound.
func (c *Client[T, S]) Fetch(ctx context.Context, key client.ObjectKey, p *Patcher[T, S], opts ...client.GetOption) (T, error) {
	obj, err := c.read(ctx, key, opts)
	if err != nil {
		var none T
		return none, err
	}
	p.open(c, obj, c.takeBase(obj))
	return obj, nil
}

// read returns an object that nobody else holds, but which may share memory with the cache.
func (c *Client[T, S]) read(ctx context.Context, key client.ObjectKey, opts []client.GetOption) (T, error) {
	obj := c.kind.New()
	if err := c.client.Get(ctx, key, obj, opts...); err != nil {
		return obj, err
	}
	// A client that is bound to a namespace reads keys without one. What is remembered goes by the object's own key.
	key = client.ObjectKeyFromObject(obj)
	superseded, known := c.memory.versions.isSuperseded(key, obj.GetResourceVersion())
	if !superseded || !c.hasLiveReader() {
		return obj, nil
	}
	live, err := c.readLive(ctx, key)
	if err != nil {
		return live, err
	}
	c.memory.versions.read(c.options.clock.Now(), key, live.GetResourceVersion(), known)
	keepTypeMeta(obj, live)
	return live, nil
}

// takeBase makes the status of obj, as it was read, the base, and gives obj a copy of it: the cache may have handed out
// its own object, and nobody may change that one.
func (c *Client[T, S]) takeBase(obj T) *base[S] {
	b := &base[S]{identity: identityOf(obj)}
	b.metadata.read(obj, b.room[:0])
	status := c.kind.Status(obj)
	b.status = *status
	c.ownStatus(obj)
	c.remember(client.ObjectKeyFromObject(obj), b)
	return b
}

// ownStatus gives obj a status that shares no memory with what it was read from.
func (c *Client[T, S]) ownStatus(obj T) {
	status := c.kind.Status(obj)
	shared := *status
	*status = *new(S)
	c.kind.DeepCopyInto(&shared, status)
}

// capture copies the base out of obj into b, which is new.
func (c *Client[T, S]) capture(obj T, b *base[S]) *base[S] {
	b.identity = identityOf(obj)
	b.metadata.read(obj, b.room[:0])
	c.kind.DeepCopyInto(c.kind.Status(obj), &b.status)
	return b
}

// remember keeps a base for objects of exactly its version. Without a UID, which only fake clients leave out, it could be
// met by another object of the same name that was created later: that base is read when it is needed.
func (c *Client[T, S]) remember(key client.ObjectKey, b *base[S]) {
	if b.identity.uid == "" {
		return
	}
	c.memory.bases.add(c.options.clock.Now(), keyOfBase(key, b.identity.uid, b.identity.resourceVersion), b)
}

func (c *Client[T, S]) readLive(ctx context.Context, key client.ObjectKey) (T, error) {
	obj := c.kind.New()
	return obj, c.live.Get(ctx, key, obj)
}

// keepTypeMeta gives to the apiVersion and kind of from. Typed clients decode neither; a cache sets both.
func keepTypeMeta(from, to client.Object) {
	if kind := from.GetObjectKind().GroupVersionKind(); !kind.Empty() {
		to.GetObjectKind().SetGroupVersionKind(kind)
	}
}

// describe names an object in errors: "Database default/a".
func (c *Client[T, S]) describe(key client.ObjectKey) string {
	if key.Namespace == "" {
		return c.kind.Name + " " + key.Name
	}
	return c.kind.Name + " " + key.String()
}
