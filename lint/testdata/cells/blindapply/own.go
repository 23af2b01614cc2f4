package blindapply

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// A patch of a type of the program's own: what it holds is sent.
type encoded struct{ data []byte }

func (e encoded) Type() types.PatchType                { return types.ApplyPatchType }
func (e encoded) Data(_ client.Object) ([]byte, error) { return e.data, nil }

func (r *Reconciler) own(ctx context.Context, cell *v1.Cell) error {
	data, err := json.Marshal(map[string]any{"status": cell.Status})
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, encoded{data: data}, client.FieldOwner("x")) // want `blind-apply: `
}

func generate(name string) (client.Patch, error) {
	pod := corev1.Pod(name, "ns").WithStatus(corev1.PodStatus().WithMessage("x"))
	data, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	return encoded{data}, nil
}

func (r *Reconciler) generated(ctx context.Context, cell *v1.Cell) error {
	patch, err := generate(cell.Name)
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, patch, client.FieldOwner("x")) // want `blind-apply: `
}

// Near miss of blind-apply: what it holds carries the version.
func (r *Reconciler) ownWithVersion(ctx context.Context, cell *v1.Cell) error {
	pod := corev1.Pod("p", "ns").WithStatus(corev1.PodStatus())
	pod.WithResourceVersion(cell.ResourceVersion)
	data, err := json.Marshal(pod)
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, encoded{data: data}, client.FieldOwner("x")) // want `locked: `
}

type merging []byte

func (merging) Type() types.PatchType                  { return types.MergePatchType }
func (m merging) Data(_ client.Object) ([]byte, error) { return []byte(m), nil }

func (r *Reconciler) converted(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, merging(`{"status":{"phase":"Ready"}}`)) // want `blind-json: `
}

// Data that the method makes itself.
type phase struct{ to string }

func (phase) Type() types.PatchType { return types.MergePatchType }

func (p phase) Data(obj client.Object) ([]byte, error) {
	return json.Marshal(map[string]any{"status": map[string]any{"phase": p.to}})
}

func (r *Reconciler) computed(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, phase{to: "Ready"}) // want `blind-json: `
}

// Near miss of blind-json: it puts the version in.
type guarded struct{ to string }

func (guarded) Type() types.PatchType { return types.MergePatchType }

func (p guarded) Data(obj client.Object) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": obj.GetResourceVersion()}, "status": map[string]any{"phase": p.to},
	})
}

func (r *Reconciler) guarded(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, guarded{to: "Ready"}) // want `locked: `
}
