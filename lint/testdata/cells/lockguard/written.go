package lockguard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Written has blind patches between whose read and write something writes the object in a way that is hard to follow.
type Written struct {
	client.Client
	toucher toucher
	hooks   map[string]func(context.Context, *v1.Cell) error
}

type toucher interface {
	Touch(ctx context.Context, in hidden) error
	TouchRequest(ctx context.Context, req ctrl.Request) error
}

type hidden struct{ key client.ObjectKey }

// The helper gets the request that holds the key.
func (r *Written) keepParentOfKey(ctx context.Context, req ctrl.Request) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return err
	}
	if err := r.touch(ctx, req); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) touch(ctx context.Context, req ctrl.Request) error {
	other := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, other); err != nil {
		return err
	}
	return r.Update(ctx, other)
}

// The helper cannot be seen, and gets a struct into which the key was copied.
func (r *Written) keepKeyInStruct(ctx context.Context, key client.ObjectKey) error {
	in := hidden{key: key}
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.toucher.Touch(ctx, in); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// The helper cannot be seen, and gets the request that holds the key.
func (r *Written) keepParentToUnseen(ctx context.Context, req ctrl.Request) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return err
	}
	if err := r.toucher.TouchRequest(ctx, req); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// The same object by its metadata alone.
func (r *Written) keepMetadataOnly(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	meta := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	meta.SetGroupVersionKind(schema.GroupVersionKind{Group: "cells.example.com", Version: "v1", Kind: "Cell"})
	if err := r.Patch(ctx, meta, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"true"}}}`))); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// The same object without a Go type.
func (r *Written) keepUnstructured(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "cells.example.com", Version: "v1", Kind: "Cell"})
	if err := r.Get(ctx, key, u); err != nil {
		return err
	}
	u.SetLabels(map[string]string{"seen": "true"})
	if err := r.Update(ctx, u); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// A goroutine writes it.
func (r *Written) keepGoroutine(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	done := make(chan error)
	go func() {
		other := &v1.Cell{}
		if err := r.Get(ctx, key, other); err != nil {
			done <- err
			return
		}
		done <- r.Update(ctx, other)
	}()
	if err := <-done; err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// A goroutine that was started before the read writes it after the read.
func (r *Written) keepEarlierGoroutine(ctx context.Context, req ctrl.Request) error {
	go r.touch(ctx, req)
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// A closure that is kept in a field writes it.
func (r *Written) keepStoredClosure(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	steps := steps{}
	steps.label = func() error {
		other := cell.DeepCopy()
		other.Labels = map[string]string{"seen": "true"}
		return r.Update(ctx, other)
	}
	if err := steps.label(); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

type steps struct{ label func() error }

// The closures of a list write it.
func (r *Written) keepClosureInList(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	other := cell.DeepCopy()
	for _, step := range []func() error{func() error { return r.Update(ctx, other) }} {
		if err := step(); err != nil {
			return err
		}
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// A copy is applied.
func (r *Written) keepApplied(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	applied := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"seen": "true"}}}
	if err := r.Patch(ctx, applied, client.Apply, client.FieldOwner("labels")); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// The object itself is applied, without its managed fields.
func (r *Written) keepAppliedItself(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.ManagedFields = nil
	if err := r.Patch(ctx, cell, client.Apply, client.FieldOwner("labels")); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// An apply configuration has a type of its own.
func (r *Written) keepApplyConfiguration(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "cells.example.com", Version: "v1", Kind: "Cell"})
	u.SetName(key.Name)
	if err := r.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("labels")); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// The helper finds the object by a list.
func (r *Written) keepListed(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.labelAll(ctx); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) labelAll(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil {
		return err
	}
	for i := range cells.Items {
		cells.Items[i].Labels = map[string]string{"seen": "true"}
		if err := r.Update(ctx, &cells.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// A deletion of an object with finalizers changes it.
func (r *Written) keepDeleted(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.Delete(ctx, &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// Which methods of the interface run is decided elsewhere.
func (r *Written) keepFunctionOfMap(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	if err := r.hooks["label"](ctx, cell); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// The controls: the same shapes, and nothing in them writes the object.

func (r *Written) fixHarmlessHelper(ctx context.Context, req ctrl.Request) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return err
	}
	if err := r.look(ctx, req); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) look(ctx context.Context, req ctrl.Request) error {
	return r.Get(ctx, req.NamespacedName, &v1.Cell{})
}

func (r *Written) fixHarmlessGoroutine(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { close(done) }()
	<-done
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) fixHarmlessClosure(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	steps := quiet{}
	steps.decide = func() error {
		cell.Status.Count++
		return nil
	}
	base := cell.DeepCopy()
	if err := steps.decide(); err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

type quiet struct{ decide func() error }

func (r *Written) fixOtherKind(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := ctrl.SetControllerReference(cell, settings, r.Scheme()); err != nil {
		return err
	}
	if err := r.Update(ctx, settings); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) fixHashed(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := hash.Write([]byte(cell.Name)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(hash, cell.Spec); err != nil {
		return err
	}
	base := cell.DeepCopy()
	cell.Status.Phase = hex.EncodeToString(hash.Sum(nil))
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

// Callers in other modules may have written the object first.
func (r *Written) KeepExportedCalled(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) callsExported(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.KeepExportedCalled(ctx, cell)
}

// Each turn of the loop writes the items of the later turns, too.
func (r *Written) keepThenAll(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base), owner)
}

func (r *Written) eachThenAll(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil {
		return err
	}
	for i := range cells.Items {
		if err := r.keepThenAll(ctx, &cells.Items[i]); err != nil {
			return err
		}
		if err := r.labelAll(ctx); err != nil {
			return err
		}
	}
	return nil
}
