package blindupdate

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) literal(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell) // want `blind-update: `
}

func (r *Reconciler) cleared(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Phase = "Ready"
	cell.ResourceVersion = ""
	return r.Status().Update(ctx, cell) // want `blind-update: `
}

func (r *Reconciler) clearedBySetter(ctx context.Context, cell *v1.Cell) error {
	next := cell.DeepCopy()
	next.SetResourceVersion("")
	return r.Status().Update(ctx, next) // want `blind-update: `
}

func (r *Reconciler) variable(ctx context.Context) error {
	var cell v1.Cell
	cell.Name = "one"
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, &cell) // want `blind-update: `
}

func (r *Reconciler) write(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `blind-update: `
}

func (r *Reconciler) literalInCaller(ctx context.Context) error {
	return r.write(ctx, &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
}

func clientset(ctx context.Context, c kubernetes.Interface) error {
	_, err := c.CoreV1().Pods("ns").UpdateStatus(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, metav1.UpdateOptions{}) // want `blind-update: `
	return err
}

// Near miss of blind-update: it was read.
func (r *Reconciler) read(ctx context.Context, key client.ObjectKey) error {
	var cell v1.Cell
	if err := r.Get(ctx, key, &cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, &cell) // want `update: `
}

// Near miss of blind-update: the server gave it its version when it was created.
func (r *Reconciler) created(ctx context.Context, cell *v1.Cell) error {
	fresh := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	if err := r.Create(ctx, fresh); err != nil {
		return err
	}
	fresh.Status = cell.Status
	return r.Status().Update(ctx, fresh) // want `update: `
}

// Near miss of blind-update: the version was copied.
func (r *Reconciler) versionCopied(ctx context.Context, cell *v1.Cell) error {
	next := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: cell.Name, Namespace: cell.Namespace, ResourceVersion: cell.ResourceVersion}, Status: cell.Status}
	return r.Status().Update(ctx, next) // want `update: `
}

// Near miss of blind-update: all metadata was copied.
func (r *Reconciler) metaCopied(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, &v1.Cell{ObjectMeta: cell.ObjectMeta, Status: cell.Status}) // want `update: `
}

func (r *Reconciler) get(ctx context.Context, key client.ObjectKey) (*v1.Cell, error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return nil, err
	}
	return cell, nil
}

// Near miss of blind-update: a helper reads it.
func (r *Reconciler) readInHelper(ctx context.Context, key client.ObjectKey) error {
	cell, err := r.get(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell) // want `update: `
}

func (r *Reconciler) readInto(ctx context.Context, key client.ObjectKey, into client.Object) error {
	return r.Get(ctx, key, into)
}

// Near miss of blind-update: a helper reads into it.
func (r *Reconciler) readThroughHelper(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.readInto(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell) // want `update: `
}

func (r *Reconciler) items(ctx context.Context) error {
	var list v1.CellList
	if err := r.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		cell := &list.Items[i]
		cell.Status.Phase = "Ready"
		if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
			return err
		}
	}
	return nil
}

// Made by a function, and read, or not, by the one that called it.
func newCell(name string) *v1.Cell {
	cell := &v1.Cell{}
	cell.Name = name
	return cell
}

func (r *Reconciler) madeByHelper(ctx context.Context) error {
	cell := newCell("x")
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell) // want `blind-update: `
}

// Near miss of blind-update: what a function made is read afterwards.
func (r *Reconciler) madeThenRead(ctx context.Context, key client.ObjectKey) error {
	cell := newCell("x")
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	return r.Status().Update(ctx, cell) // want `update: `
}

func dyn(ctx context.Context, d dynamic.ResourceInterface, name string) error {
	u, err := d.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(u.Object, "Ready", "status", "phase"); err != nil {
		return err
	}
	_, err = d.UpdateStatus(ctx, u, metav1.UpdateOptions{}) // want `update: `
	return err
}

type status struct{ code int }

func (status) Update(ctx context.Context, d time.Duration) error { return nil }

type api struct{}

func (api) Status() status { return status{} }

// Not a write at all: other types' Status.
func other(ctx context.Context, a api) error { return a.Status().Update(ctx, time.Second) }
