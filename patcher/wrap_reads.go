package patcher

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reads, and the answers to writes, are captured: the base of a later write is the state of the object's own version.

// Get implements client.Reader.
func (w *WrappedClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := w.Client.Get(ctx, key, obj, opts...)
	if err == nil {
		w.capture(obj)
	}
	return err
}

// List implements client.Reader.
func (w *WrappedClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := w.Client.List(ctx, list, opts...)
	if err == nil && w.captures() && w.lists(list) && meta.LenList(list) <= maxBases {
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			w.capture(item.(client.Object))
			return nil
		})
	}
	return err
}

// Create implements client.Writer.
func (w *WrappedClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	var options client.CreateOptions
	options.ApplyOptions(opts)
	return w.captureAnswer(ctx, obj, options.DryRun, terms{}, func() error { return w.Client.Create(ctx, obj, opts...) })
}

// Update implements client.Writer.
func (w *WrappedClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	var options client.UpdateOptions
	options.ApplyOptions(opts)
	return w.captureAnswer(ctx, obj, options.DryRun, terms{lock: obj.GetResourceVersion()}, func() error { return w.Client.Update(ctx, obj, opts...) })
}

// Patch implements client.Writer.
func (w *WrappedClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	var options client.PatchOptions
	options.ApplyOptions(opts)
	return w.captureAnswer(ctx, obj, options.DryRun, w.termsOf(obj, patch), func() error { return w.Client.Patch(ctx, obj, patch, opts...) })
}

// terms are what is known of a write before it is sent.
type terms struct {
	// lock is the version that the API server compares, if that is known.
	lock string
	// spec says that the write may change the spec.
	spec bool
}

// termsOf returns the terms of a patch of an object's metadata or spec.
func (w *WrappedClient) termsOf(obj client.Object, patch client.Patch) terms {
	if !w.captures() || w.kinds.ofType(obj) == nil || patch.Type() == types.ApplyPatchType {
		return terms{spec: true}
	}
	content, err := contentOf(patch, obj)
	if err != nil { // the client will return it
		return terms{}
	}
	return terms{lock: content.lock, spec: content.spec}
}

// captureAnswer makes a write and captures what the API server stored. The answer of a dry run, and of a write that stored nothing,
// has the version of the object before it and need not be that version's state.
func (w *WrappedClient) captureAnswer(ctx context.Context, obj client.Object, dryRun []string, t terms, write func() error) error {
	before := obj.GetResourceVersion()
	if err := write(); err != nil {
		return err
	}
	if len(dryRun) == 0 && obj.GetResourceVersion() != before {
		w.capture(obj)
		if kind := w.kinds.ofType(obj); kind != nil && w.captures() {
			w.follow(ctx, stored{kind: kind, before: before, terms: t, obj: obj})
		}
	}
	return nil
}

func (w *WrappedClient) capture(obj client.Object) {
	if !w.captures() {
		return
	}
	if kind := w.kinds.ofType(obj); kind != nil {
		kind.client.capturedFrom(obj)
	}
}

// captures reports whether anything is done with a base. A client that only reports needs none.
func (w *WrappedClient) captures() bool { return w.mode != Report }

// lists reports whether the items of a list have a registered kind. Longer lists than the memory holds are not captured:
// the base of an item is then read again when it is needed.
func (w *WrappedClient) lists(list client.ObjectList) bool {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	items := v.Elem().FieldByName("Items")
	if items.Kind() != reflect.Slice {
		return false
	}
	element := items.Type().Elem()
	if element.Kind() == reflect.Struct {
		element = reflect.PointerTo(element)
	}
	return w.kinds.byType[element] != nil
}
