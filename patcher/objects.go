package patcher

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Code that reads an object in one function and writes its status in another does not need a patcher that is passed along:
// the base is found again by the object's UID and resourceVersion.

// Get reads the object into obj, as a client.Reader does, and remembers its base for Flush and Patcher. If the cache returns a
// version that is known to be superseded, Get reads again, live; the options are not passed to that read. On an error obj is
// as it was.
func (c *Client[T, S]) Get(ctx context.Context, key client.ObjectKey, obj T, opts ...client.GetOption) error {
	c.mustNotBeNil("Get", obj)
	read, err := c.read(ctx, key, opts)
	if err != nil {
		return err
	}
	c.takeBase(read)
	c.kind.Assign(obj, read)
	return nil
}

// For captures the base into p, which must be new, from an object that the caller owns and has not changed since it was read.
// It returns an error if the object has no resourceVersion, because it was never read. It panics if obj is nil.
func (c *Client[T, S]) For(obj T, p *Patcher[T, S]) error {
	if err := c.wasRead("For", obj); err != nil {
		return err
	}
	if c.options.sharedCache {
		p.open(c, obj, c.takeBase(obj))
		return nil
	}
	p.open(c, obj, c.capture(obj, &p.first))
	return nil
}

// Patcher opens p, which must be new, on an object that may have been changed since it was read. The base is the state of
// exactly the object's UID and resourceVersion, found as Flush finds it. If it has to be read, the read may take five
// seconds.
func (c *Client[T, S]) Patcher(obj T, p *Patcher[T, S]) error {
	if err := c.wasRead("Patcher", obj); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), baseRead)
	defer cancel()
	return c.open(ctx, obj, p)
}

// baseRead is how long Patcher, which has no context, may read for a base that is not remembered.
const baseRead = 5 * time.Second

// Flush writes what changed in the status of obj since it was read, as Patcher.Flush does. The base is the state of exactly the
// object's own UID and resourceVersion. Get, Fetch and writes of this kind remember it; otherwise it is read from the cache,
// and then live. If none of them has that version, the object is outdated: Flush returns a *ConflictError and writes nothing.
// If the options leave nowhere to look, it returns ErrNoBase.
//
// The object may be a copy, a list item, or what the caller's own Create or Update returned. Without a UID, as fake clients
// leave objects, nothing is remembered and the base is always read.
func (c *Client[T, S]) Flush(ctx context.Context, obj T) (Result, error) {
	if err := c.wasRead("Flush", obj); err != nil {
		return "", err
	}
	if err := c.mayWrite("Flush", obj); err != nil {
		return "", err
	}
	if b := c.memory.bases.find(baseKeyOf(obj)); b != nil && c.options.observer == nil && c.kind.Equal(&b.status, c.kind.Status(obj)) {
		return ResultUnchanged, nil
	}
	key, now := baseKeyOf(obj), c.options.clock.Now()
	p := &Patcher[T, S]{}
	if err := c.open(ctx, obj, p); err != nil {
		t := c.begin(OperationFlush)
		return c.end(ctx, client.ObjectKeyFromObject(obj), t, "", err)
	}
	p.refused = c.refusalOf(now, key)
	if c.options.sharedCache && p.Changed() {
		c.ownStatus(obj)
	}
	result, err := p.Flush(ctx)
	if err != nil && err == p.refused && key.uid != "" {
		delay, _ := requeueAfter(err)
		c.memory.bases.refuse(now, key, err, delay)
	}
	return result, err
}

// refusalOf returns why the API server refused that version, or nil. Once the requeue that the error asked for has had its
// time, another reconcile has met the same version: its delay is longer.
func (c *Client[T, S]) refusalOf(now time.Time, key baseKey) error {
	refused, due := c.memory.bases.refusalOf(now, key)
	var conflict *ConflictError
	if due && errors.As(refused, &conflict) {
		again := *conflict
		again.requeueAfter = 0
		return &again
	}
	return refused
}

// open finds the base of obj: what is remembered, then the cache, then live.
func (c *Client[T, S]) open(ctx context.Context, obj T, p *Patcher[T, S]) error {
	b, err := c.findBase(ctx, obj)
	if err != nil {
		return err
	}
	p.open(c, obj, b)
	return nil
}

func (c *Client[T, S]) findBase(ctx context.Context, obj T) (*base[S], error) {
	wanted := baseKeyOf(obj)
	if b := c.memory.bases.find(wanted); b != nil {
		return b, nil
	}
	key := client.ObjectKeyFromObject(obj)
	// The object may be the cache's own, with the caller's edits in it.
	if !c.options.sharedCache {
		if b, err := c.baseFrom(ctx, c.client, key, wanted); b != nil {
			return b, nil
		} else if c.options.transformedCache {
			return nil, c.noBase(obj, err)
		}
	}
	if c.options.transformedCache || !c.hasLiveReader() {
		return nil, c.noBase(obj, nil)
	}
	b, err := c.baseFrom(ctx, c.live, key, wanted)
	switch {
	case b != nil:
		return b, nil
	case apierrors.IsNotFound(err) && identityOf(obj).deleting():
		return nil, errGone
	case err != nil:
		return nil, fmt.Errorf("%s: the state that it was read in is not remembered, and reading it failed: %w", c.describe(key), err)
	}
	c.memory.versions.outdated(c.options.clock.Now(), key, obj.GetResourceVersion())
	return nil, c.conflict(key, obj.GetResourceVersion(), 0, errOutdated(c.kind.Name, key.Name))
}

// baseFrom reads the object, and returns its base if it is the version that is wanted.
func (c *Client[T, S]) baseFrom(ctx context.Context, reader client.Reader, key client.ObjectKey, wanted baseKey) (*base[S], error) {
	read := c.kind.New()
	if err := reader.Get(ctx, key, read); err != nil {
		return nil, err
	}
	if baseKeyOf(read) != wanted {
		return nil, nil
	}
	b := c.capture(read, new(base[S]))
	c.remember(key, b)
	return b, nil
}

func (c *Client[T, S]) noBase(obj T, read error) error {
	key := client.ObjectKeyFromObject(obj)
	err := fmt.Errorf("%s: %w: resourceVersion %s is not remembered, and the options of the StatusClient leave nowhere to read it from; read the object with Get or Fetch of the StatusClient, or call For before the first edit",
		c.describe(key), ErrNoBase, obj.GetResourceVersion())
	if read != nil {
		err = fmt.Errorf("%w (%w)", err, read)
	}
	return err
}

// wasRead is an error for an object that has no version to lock to. Of "0" some kinds take an unlocked write.
func (c *Client[T, S]) wasRead(operation string, obj T) error {
	c.mustNotBeNil(operation, obj)
	if version := obj.GetResourceVersion(); version == "" || version == "0" {
		return fmt.Errorf("%s: resourceVersion %q: no resourceVersion means that the object was not read from the API server; Fetch it, or pass what Get or List returned",
			c.describe(client.ObjectKeyFromObject(obj)), version)
	}
	return nil
}

func (c *Client[T, S]) mustNotBeNil(operation string, obj T) {
	if reflect.ValueOf(obj).IsNil() {
		panic("statuspatcher: " + operation + " was given a nil " + c.kind.Name)
	}
}
