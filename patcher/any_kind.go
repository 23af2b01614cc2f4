package patcher

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AnyKind is a Kind of any type. The generated function Kinds returns those of a package.
type AnyKind interface {
	// KindName returns the name that errors and metrics use: "Database".
	KindName() string
	// NewObject returns an empty object of the kind.
	NewObject() client.Object
	// WriteOnceFields returns the paths of the write-once fields, in JSON names below the status: "plan.id".
	WriteOnceFields() []string
	// CheckWriteOnce returns a *WriteOnceError if a write that turns before into after changes or removes the value of a write-once
	// field. It is for test kits; patchers check by themselves.
	CheckWriteOnce(before, after client.Object) error

	// owns reports whether obj has the Go type of this kind.
	owns(obj client.Object) bool
	// bind returns a Client whose types are known only at run time. It shares what is remembered of objects with all
	// Clients of the kind over c.
	bind(c client.Client, live client.Reader, opts []Option) anyClient
}

// anyClient is a Client of a kind whose type is known only at run time. Each method takes objects that its kind owns.
type anyClient interface {
	// capturedFrom remembers the base of an object that was read, or that a write returned, and copies what it keeps.
	capturedFrom(obj client.Object)
	// isKnown reports whether the base of the object's UID and resourceVersion is remembered.
	isKnown(obj client.Object) bool
	// hasBaseMetadata reports whether the metadata of the object is that of the base, which is known.
	hasBaseMetadata(obj client.Object) bool
	// statuses returns the JSON values of the statuses of two bases, if both are remembered.
	statuses(from, to baseKey) (fromJSON, toJSON any, ok bool)
	// isUnchanged reports whether lockedPatch would have nothing to write.
	isUnchanged(obj client.Object) (bool, error)
	// hasEmptyStatus reports whether the status is the zero value. Then it need not be stored at all, and an Update stores the zeros that are
	// required.
	hasEmptyStatus(obj client.Object) bool
	// lockedPatch returns the request that writes what differs between that base and the object's status, or nil if
	// nothing does. The error is an ErrNoBase if the base is not remembered.
	lockedPatch(obj client.Object) (client.Patch, error)
	// flush is Client.Flush.
	flush(ctx context.Context, obj client.Object) (Result, error)
}

// KindName implements AnyKind.
func (k *Kind[T, S]) KindName() string { return k.Name }

// NewObject implements AnyKind.
func (k *Kind[T, S]) NewObject() client.Object { return k.New() }

// WriteOnceFields implements AnyKind.
func (k *Kind[T, S]) WriteOnceFields() []string { return slices.Clone(k.WriteOnce) }

// CheckWriteOnce implements AnyKind.
func (k *Kind[T, S]) CheckWriteOnce(before, after client.Object) error {
	k.statusShape()
	c := &Client[T, S]{kind: k}
	return c.checkWriteOnce(client.ObjectKeyFromObject(after), k.Status(before.(T)), k.Status(after.(T)), nil)
}

func (k *Kind[T, S]) owns(obj client.Object) bool {
	_, ok := obj.(T)
	return ok
}

func (k *Kind[T, S]) bind(c client.Client, live client.Reader, opts []Option) anyClient {
	return NewClient(k, c, live, opts...)
}

func (c *Client[T, S]) capturedFrom(obj client.Object) {
	if isNoVersion(obj.GetResourceVersion()) {
		return
	}
	// The first copy of a version counts: a later one may be of an object that a cache shares, and that somebody has edited. It also
	// makes a second read of the same version cheap.
	// An object without a UID may be another one of the same name, on the fake client.
	now, key := c.options.clock.Now(), baseKeyOf(obj)
	if key.uid == "" || !c.memory.bases.renew(now, key) {
		c.memory.bases.add(now, key, c.capture(obj.(T), new(base[S])))
	}
}

func (c *Client[T, S]) isKnown(obj client.Object) bool {
	return c.memory.bases.find(baseKeyOf(obj)) != nil
}

func (c *Client[T, S]) hasBaseMetadata(obj client.Object) bool {
	return c.memory.bases.find(baseKeyOf(obj)).metadata.equals(obj)
}

func (c *Client[T, S]) statuses(from, to baseKey) (fromJSON, toJSON any, ok bool) {
	older, newer := c.memory.bases.find(from), c.memory.bases.find(to)
	if older == nil || newer == nil {
		return nil, nil, false
	}
	ok = jsonValue(&older.status, &fromJSON) && jsonValue(&newer.status, &toJSON)
	return fromJSON, toJSON, ok
}

func jsonValue(status any, out *any) bool {
	data, err := json.Marshal(status)
	return err == nil && json.Unmarshal(data, out) == nil
}

func (c *Client[T, S]) isUnchanged(obj client.Object) (bool, error) {
	b := c.memory.bases.find(baseKeyOf(obj))
	if b == nil {
		return false, c.noBase(obj.(T), nil)
	}
	return c.equalStatus(&b.status, c.kind.Status(obj.(T)))
}

func (c *Client[T, S]) hasEmptyStatus(obj client.Object) bool {
	return reflect.ValueOf(c.kind.Status(obj.(T))).Elem().IsZero()
}

func (c *Client[T, S]) lockedPatch(obj client.Object) (client.Patch, error) {
	b := c.memory.bases.find(baseKeyOf(obj))
	if b == nil {
		return nil, c.noBase(obj.(T), nil)
	}
	d, err := c.diff(&b.status, c.kind.Status(obj.(T)))
	if err != nil || d == nil {
		return nil, err
	}
	return d.patch(b.identity.resourceVersion)
}

func (c *Client[T, S]) flush(ctx context.Context, obj client.Object) (Result, error) {
	return c.Flush(ctx, obj.(T))
}

// FlushObject writes what changed in the status of obj since it was read, as Flush of a StatusClient does, for helpers
// that are generic or take interfaces. c must know the kind of obj: a client that Wrap
// returned.
func FlushObject(ctx context.Context, c client.Client, obj client.Object) (Result, error) {
	known, ok := c.(interface{ clientOf(client.Object) anyClient })
	if !ok {
		return "", fmt.Errorf("FlushObject: a %T knows no kinds: pass a client that patcher.Wrap returned", c)
	}
	bound := known.clientOf(obj)
	if bound == nil {
		return "", fmt.Errorf("FlushObject: the client does not know the kind of a %T: pass its generated Kinds() to patcher.Wrap", obj)
	}
	return bound.flush(ctx, obj)
}
