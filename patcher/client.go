package patcher

import (
	"context"
	"fmt"
	"reflect"

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

	superseded superseded
	streaks    streaks
}

// NewClient returns a Client that reads and writes through c and reads through live after a conflict. It panics when
// c or live is nil, which is a programming error: without a live reader a retry sees the same stale object for ever.
func NewClient[T client.Object, S any](kind *Kind[T, S], c client.Client, live client.Reader, opts ...Option) *Client[T, S] {
	if c == nil {
		panic("statuspatcher: the client of " + kind.Name + " is nil: pass mgr.GetClient()")
	}
	if live == nil {
		panic("statuspatcher: the live reader of " + kind.Name + " is nil: pass mgr.GetAPIReader(), or patcher.NoLiveReader where only Flush is used")
	}
	sc := &Client[T, S]{kind: kind, client: c, live: live, options: newOptions(opts), shape: shapeOf(reflect.TypeFor[S]())}
	if sc.options.rebase && !sc.hasLiveReader() {
		panic("statuspatcher: RebaseOnConflict of " + kind.Name + " needs a live reader: pass mgr.GetAPIReader()")
	}
	return sc
}

func (c *Client[T, S]) hasLiveReader() bool {
	_, none := c.live.(noLiveReader)
	return !none
}

// Fetch reads the object and captures its base into p, which is new. A read from the cache that answers a version which
// this Client knows to be superseded, by its own write or by a conflict, is done again live. The error is the client's own, such as
// a NotFound.
func (c *Client[T, S]) Fetch(ctx context.Context, key client.ObjectKey, p *Patcher[T, S]) (T, error) {
	obj := c.kind.New()
	err := c.client.Get(ctx, key, obj)
	if err == nil && c.superseded.has(key, obj.GetResourceVersion()) && c.hasLiveReader() {
		obj, err = c.readLive(ctx, key)
	}
	if err != nil {
		var none T
		return none, err
	}
	p.open(c, obj)
	// The status as it was read becomes the base, and the caller gets the copy: a cache may have handed out its own.
	status := c.kind.Status(obj)
	p.base.status = *status
	*status = *new(S)
	c.kind.DeepCopyInto(&p.base.status, status)
	return obj, nil
}

// For captures the base into p, which is new, from an object that the caller owns and has not changed since it was read. It is an
// error if the object has no resourceVersion, as one that was never read. It panics when obj is nil.
func (c *Client[T, S]) For(obj T, p *Patcher[T, S]) error {
	if reflect.ValueOf(obj).IsNil() {
		panic("statuspatcher: For was given a nil " + c.kind.Name)
	}
	if obj.GetResourceVersion() == "" {
		return fmt.Errorf("%s: no resourceVersion, so the object was not read from the API server; Fetch it, or pass what Get or List returned",
			c.describe(client.ObjectKeyFromObject(obj)))
	}
	p.open(c, obj)
	c.kind.DeepCopyInto(c.kind.Status(obj), &p.base.status)
	return nil
}

// capture copies the base out of obj.
func (c *Client[T, S]) capture(obj T) base[S] {
	b := base[S]{identity: identityOf(obj), metadata: metadataOf(obj)}
	c.kind.DeepCopyInto(c.kind.Status(obj), &b.status)
	return b
}

func (c *Client[T, S]) readLive(ctx context.Context, key client.ObjectKey) (T, error) {
	obj := c.kind.New()
	return obj, c.live.Get(ctx, key, obj)
}

// describe names an object in errors: "Database default/a".
func (c *Client[T, S]) describe(key client.ObjectKey) string {
	if key.Namespace == "" {
		return c.kind.Name + " " + key.Name
	}
	return c.kind.Name + " " + key.String()
}
