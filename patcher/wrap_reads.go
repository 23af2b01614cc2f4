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
	if err == nil && w.remembers(obj) {
		w.capture(obj)
		w.read(ctx, obj)
	}
	return err
}

// List implements client.Reader.
func (w *WrappedClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := w.Client.List(ctx, list, opts...)
	if err == nil && w.captures() && w.kinds.lists(list) && meta.LenList(list) <= maxBases {
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			w.capture(item.(client.Object))
			w.read(ctx, item.(client.Object))
			return nil
		})
	}
	return err
}

// Create implements client.Writer.
func (w *WrappedClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if !w.remembers(obj) {
		return w.Client.Create(ctx, obj, opts...)
	}
	var options client.CreateOptions
	options.ApplyOptions(opts)
	return w.captureAnswer(ctx, obj, request{dryRun: options.DryRun}, func() error { return w.Client.Create(ctx, obj, opts...) })
}

// Update implements client.Writer.
func (w *WrappedClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	if !w.remembers(obj) {
		return w.Client.Update(ctx, obj, opts...)
	}
	var options client.UpdateOptions
	options.ApplyOptions(opts)
	request := request{dryRun: options.DryRun, lock: obj.GetResourceVersion()}
	return w.captureAnswer(ctx, obj, request, func() error { return w.Client.Update(ctx, obj, opts...) })
}

// Patch implements client.Writer.
func (w *WrappedClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if !w.remembers(obj) {
		return w.Client.Patch(ctx, obj, patch, opts...)
	}
	var options client.PatchOptions
	options.ApplyOptions(opts)
	request := requestOf(obj, patch)
	request.dryRun = options.DryRun
	return w.captureAnswer(ctx, obj, request, func() error { return w.Client.Patch(ctx, obj, patch, opts...) })
}

// requestOf returns what is known of a patch of metadata or spec.
func requestOf(obj client.Object, patch client.Patch) (r request) {
	if patch.Type() != types.MergePatchType {
		return r
	}
	content, err := contentOf(patch, obj)
	if err != nil { // the client will return it
		return r
	}
	return request{lock: content.lock, onlyMetadata: content.onlyMetadata}
}

// A request is what is known of a write before it is made.
type request struct {
	dryRun []string
	// lock is the version that the API server compares, if that is known.
	lock string
	// ofStatus: it writes the status, and otherwise metadata or spec.
	ofStatus bool
	// onlyMetadata: it writes neither spec nor what else is beside metadata and status.
	onlyMetadata bool
}

// captureAnswer makes a write and captures what the API server stored. The answer of a dry run, and of a write that stored nothing, has the
// version of the object before it and need not be that version's state.
func (w *WrappedClient) captureAnswer(ctx context.Context, obj client.Object, r request, write func() error) error {
	sent := w.beforeWrite(ctx, obj, r)
	if err := write(); err != nil {
		return err
	}
	if len(r.dryRun) == 0 && obj.GetResourceVersion() != sent.resourceVersion && w.remembers(obj) {
		w.capture(obj)
		w.follow(ctx, w.kinds.ofType(obj), obj, sent, r)
	}
	return nil
}

func (w *WrappedClient) capture(obj client.Object) {
	if w.remembers(obj) {
		w.kinds.ofType(obj).client.capturedFrom(obj)
	}
}

// captures reports whether anything is done with a base. A client that only reports needs none.
func (w *WrappedClient) captures() bool { return w.mode != Report }

// remembers reports whether the states of obj are captured.
func (w *WrappedClient) remembers(obj client.Object) bool {
	return w.captures() && w.kinds.ofType(obj) != nil
}

// lists reports whether the items of a list have a registered kind. Longer lists than the memory holds are not captured:
// the base of an item is then read again when it is needed.
func (k kinds) lists(list client.ObjectList) bool {
	of := reflect.TypeOf(list)
	if known, ok := k.byList.Load(of); ok {
		return known.(bool)
	}
	registered := k.byType[itemOf(of)] != nil
	k.byList.Store(of, registered)
	return registered
}

// itemOf returns the type of the pointers to a list's items, or nil if it is not a list like those of generated APIs.
func itemOf(list reflect.Type) reflect.Type {
	if list == nil || list.Kind() != reflect.Pointer || list.Elem().Kind() != reflect.Struct {
		return nil
	}
	items, ok := list.Elem().FieldByName("Items")
	if !ok || items.Type.Kind() != reflect.Slice {
		return nil
	}
	element := items.Type.Elem()
	if element.Kind() == reflect.Struct {
		return reflect.PointerTo(element)
	}
	return element
}
