package patcher

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Flush writes what changed in the status of obj since it was read, as Flush of a StatusClient does, for code that has a
// client and no StatusClient. It takes the place of c.Status().Update and c.Status().Patch wherever they stand:
//
//	if err := v1status.DatabaseKind.Flush(ctx, r.Client, database); err != nil {
//
// The base is the state of the object's own UID and resourceVersion. A client that Wrap returned remembers it from reads and
// from the answers to writes; otherwise it is read through c. If c has another version of the object, the error is a
// *ConflictError, and nothing was written.
func (k *Kind[T, S]) Flush(ctx context.Context, c client.Client, obj T) error {
	_, err := k.over(c, obj).Flush(ctx, obj)
	return err
}

// over returns a Client over c alone: the one that a wrapped client has, with its memory and its live reader, or a new one.
func (k *Kind[T, S]) over(c client.Client, obj T) *Client[T, S] {
	sc := k.boundTo(c, obj)
	if !sc.hasLiveReader() {
		alone := *sc
		alone.onlyCache = true
		return &alone
	}
	return sc
}

func (k *Kind[T, S]) boundTo(c client.Client, obj T) *Client[T, S] {
	if wrapped, ok := c.(interface{ clientOf(client.Object) anyClient }); ok {
		if bound, ok := wrapped.clientOf(obj).(*Client[T, S]); ok {
			return bound
		}
	}
	return NewClient(k, c, NoLiveReader)
}
