// Package scope writes what is no status, and status by generated patchers: the audit lists it, the lint does not report
// it.
package scope

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/cells/api/v1"
	"example.com/cells/api/v1/v1status"
)

type Reconciler struct {
	client.Client
	cells *v1status.CellStatusClient
}

// A form of spec, near miss of metadata, near miss of finalizer.
func (r *Reconciler) spec(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Spec.Size = 3
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is spec
}

// A form of spec, near miss of child: a clientset's merge patch.
func podSpec(ctx context.Context, c kubernetes.Interface, data []byte) error {
	_, err := c.CoreV1().Pods("ns").Patch(ctx, "p", types.MergePatchType, data, metav1.PatchOptions{}) // is spec
	return err
}

// A form of spec, near miss of metadata: both are changed.
func (r *Reconciler) specAndLabels(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Spec.Size, cell.Labels = 3, map[string]string{"a": "b"}
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is spec
}

// A form of metadata, near miss of spec, near miss of finalizer.
func (r *Reconciler) labels(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Labels = map[string]string{"a": "b"}
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is metadata
}

// A form of metadata, near miss of spec.
func (r *Reconciler) annotations(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.SetAnnotations(map[string]string{"a": "b"})
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is metadata
}

// A form of metadata, near miss of finalizer.
func (r *Reconciler) owner(ctx context.Context, cell, owner *v1.Cell) error {
	base := cell.DeepCopy()
	if err := controllerutil.SetControllerReference(owner, cell, r.Scheme()); err != nil {
		return err
	}
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is metadata
}

// A form of finalizer, near miss of metadata.
func (r *Reconciler) finalizer(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	controllerutil.AddFinalizer(cell, "x")
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is finalizer
}

// A form of finalizer, near miss of spec.
func (r *Reconciler) finalized(ctx context.Context, cell *v1.Cell) error {
	controllerutil.RemoveFinalizer(cell, "x")
	return r.Update(ctx, cell) // is finalizer
}

// A form of finalizer, near miss of metadata.
func (r *Reconciler) finalizers(ctx context.Context, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Finalizers = append(cell.Finalizers, "x")
	return r.Patch(ctx, cell, client.MergeFrom(base)) // is finalizer
}

// A form of child, near miss of spec.
func (r *Reconciler) child(ctx context.Context) error {
	cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	return r.Patch(ctx, cell, client.Apply, client.FieldOwner("x")) // is child
}

// A form of child.
func podChild(ctx context.Context, c kubernetes.Interface) error {
	_, err := c.CoreV1().Pods("ns").Apply(ctx, corev1.Pod("p", "ns"), metav1.ApplyOptions{FieldManager: "x"}) // is child
	return err
}

// A form of child.
func (r *Reconciler) applied(ctx context.Context) error {
	return r.Apply(ctx, corev1.Pod("p", "ns"), client.FieldOwner("x")) // is child
}

// Near miss of child: the status of an object is applied.
func appliedStatus(ctx context.Context, c kubernetes.Interface, version string) error {
	pod := corev1.Pod("p", "ns").WithResourceVersion(version)
	_, err := c.CoreV1().Pods("ns").ApplyStatus(ctx, pod, metav1.ApplyOptions{FieldManager: "x"}) // is locked
	return err
}

// Near miss of child: created, not applied.
func (r *Reconciler) created(ctx context.Context) error {
	return r.Create(ctx, &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
}

// A form of subresource.
func (r *Reconciler) scale(ctx context.Context, cell *v1.Cell) error {
	return r.SubResource("scale").Update(ctx, cell) // is subresource
}

// A form of subresource.
func (r *Reconciler) evict(ctx context.Context, cell *v1.Cell) error {
	const name = "eviction"
	sub := r.SubResource(name)
	return sub.Create(ctx, cell, cell) // is subresource
}

// A form of subresource.
func containers(ctx context.Context, c kubernetes.Interface, data []byte) error {
	_, err := c.CoreV1().Pods("ns").Patch(ctx, "p", types.MergePatchType, data, metav1.PatchOptions{}, "ephemeralcontainers") // is subresource
	return err
}

// Near miss of subresource: by its name it is the status.
func (r *Reconciler) status(ctx context.Context, cell *v1.Cell) error {
	return r.SubResource("status").Update(ctx, cell) // is update
}

// Near miss of subresource: by its name it may be the status.
func (r *Reconciler) named(ctx context.Context, name string, cell *v1.Cell) error {
	return r.SubResource(name).Update(ctx, cell) // is update
}

// Near miss of subresource: it is read.
func (r *Reconciler) readScale(ctx context.Context, cell *v1.Cell) error {
	return r.SubResource("scale").Get(ctx, cell, cell)
}

// A form of generated.
func (r *Reconciler) flush(ctx context.Context, key client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return err
	}
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx) // is generated
	return err
}

// A form of generated.
func (r *Reconciler) deferred(ctx context.Context, req ctrl.Request) (res ctrl.Result, err error) {
	cell, p, err := r.cells.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return res, err
	}
	defer p.FlushOnReturn(ctx, &res, &err) // is generated
	cell.Status.Phase = "Ready"
	return res, nil
}

// A form of generated.
func (r *Reconciler) retried(ctx context.Context, key client.ObjectKey) error {
	_, err := r.cells.Retry(ctx, key, func(cell *v1.Cell) error { // is generated
		cell.Status.Phase = "Ready"
		return nil
	})
	return err
}

// Near miss of generated: read, and nothing written.
func (r *Reconciler) fetched(ctx context.Context, key client.ObjectKey) (bool, error) {
	_, p, err := r.cells.Fetch(ctx, key)
	if err != nil {
		return false, err
	}
	return p.Changed(), nil
}

// Near miss of generated: written by hand, though there is a patcher for it.
func (r *Reconciler) byHand(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // is update
}

// Near miss of generated: a Flush of something else.
func (r *Reconciler) otherFlush(ctx context.Context, b buffer) error { return b.Flush(ctx) }

type buffer struct{}

func (buffer) Flush(context.Context) error { return nil }
