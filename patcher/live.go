package patcher

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NoLiveReader stands in for the live reader where nothing can read past the cache. It is for code that only calls Fetch, Get
// and Flush: Retry and Refresh then return ErrNoLiveReader. Never pass the cached client in its place: a retry that reads from
// a lagging cache sees the same stale object every time.
var NoLiveReader client.Reader = noLiveReader{}

type noLiveReader struct{}

func (noLiveReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return ErrNoLiveReader
}

func (noLiveReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return ErrNoLiveReader
}
