package blindapply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) object(ctx context.Context, name string) error {
	cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.Apply, client.FieldOwner("x")) // want `blind-apply: `
}

func (r *Reconciler) unstructured(ctx context.Context) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "x"}, "status": map[string]any{"phase": "x"},
	}}
	return r.SubResource("status").Patch(ctx, u, client.Apply, client.FieldOwner("x")) // want `blind-apply: `
}

func clientset(ctx context.Context, c kubernetes.Interface) error {
	conf := corev1.Pod("p", "ns").WithStatus(corev1.PodStatus().WithMessage("x"))
	_, err := c.CoreV1().Pods("ns").ApplyStatus(ctx, conf, metav1.ApplyOptions{FieldManager: "x"}) // want `blind-apply: `
	return err
}

func bytes(ctx context.Context, d dynamic.ResourceInterface) error {
	data := []byte(`{"status":{"phase":"x"}}`)
	_, err := d.Patch(ctx, "x", types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "x"}, "status") // want `blind-apply: `
	return err
}

// Near miss of blind-apply: it carries the version.
func withVersion(ctx context.Context, c kubernetes.Interface, version string) error {
	conf := corev1.Pod("p", "ns").WithResourceVersion(version).WithStatus(corev1.PodStatus())
	_, err := c.CoreV1().Pods("ns").ApplyStatus(ctx, conf, metav1.ApplyOptions{FieldManager: "x"}) // want `locked: `
	return err
}

// Near miss of blind-apply: it gets the version later.
func versionLater(ctx context.Context, c kubernetes.Interface, version string) error {
	conf := corev1.Pod("p", "ns").WithStatus(corev1.PodStatus())
	conf.WithResourceVersion(version)
	_, err := c.CoreV1().Pods("ns").ApplyStatus(ctx, conf, metav1.ApplyOptions{FieldManager: "x"}) // want `locked: `
	return err
}

// Near miss of blind-apply: what was read still has its version.
func (r *Reconciler) stripped(ctx context.Context, cell *v1.Cell) error {
	cell.SetManagedFields(nil)
	cell.Status.Phase = "Ready"
	return r.Status().Patch(ctx, cell, client.Apply, client.FieldOwner("x")) // want `locked: `
}

// Near miss of blind-apply: a child is applied whole, which is no status write.
func (r *Reconciler) child(ctx context.Context) error {
	cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	return r.Patch(ctx, cell, client.Apply, client.FieldOwner("x"))
}
