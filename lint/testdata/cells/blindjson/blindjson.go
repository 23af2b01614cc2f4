package blindjson

import (
	"context"
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) constant(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Ready"}}`))) // want `blind-json: `
}

func (r *Reconciler) marshalled(ctx context.Context, cell *v1.Cell) error {
	data, err := json.Marshal(map[string]any{"status": cell.Status})
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, data)) // want `blind-json: `
}

func (r *Reconciler) diff(ctx context.Context, before, after *v1.Cell) error {
	a, err := json.Marshal(before)
	if err != nil {
		return err
	}
	b, err := json.Marshal(after)
	if err != nil {
		return err
	}
	data, err := jsonpatch.CreateMergePatch(a, b)
	if err != nil {
		return err
	}
	return r.Status().Patch(ctx, after, client.RawPatch(types.MergePatchType, data)) // want `blind-json: `
}

func clientset(ctx context.Context, c kubernetes.Interface, d dynamic.ResourceInterface, name string) error {
	data := []byte(`{"status":{"phase":"Failed"}}`)
	if _, err := c.CoreV1().Pods("ns").Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{}, "status"); err != nil { // want `blind-json: `
		return err
	}
	_, err := d.Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/status/phase","value":"x"}]`), metav1.PatchOptions{}, "status") // want `blind-json: `
	return err
}

func nodeStatus(ctx context.Context, c kubernetes.Interface, data []byte) error {
	_, err := c.CoreV1().Nodes().PatchStatus(ctx, "node", []byte(`{"status":{}}`)) // want `blind-json: `
	return err
}

// Near miss of blind-json: no subresource.
func mainResource(ctx context.Context, c kubernetes.Interface, data []byte) error {
	_, err := c.CoreV1().Pods("ns").Patch(ctx, "p", types.MergePatchType, data, metav1.PatchOptions{})
	return err
}

// Near miss of blind-json: another subresource.
func other(ctx context.Context, c kubernetes.Interface, data []byte) error {
	_, err := c.CoreV1().Pods("ns").Patch(ctx, "p", types.MergePatchType, data, metav1.PatchOptions{}, "ephemeralcontainers")
	return err
}

// Near miss of blind-json: the data carries the version.
func version(ctx context.Context, c kubernetes.Interface, pod string, version string) error {
	data := []byte(`{"metadata":{"resourceVersion":"` + version + `"},"status":{"phase":"Failed"}}`)
	_, err := c.CoreV1().Pods("ns").Patch(ctx, pod, types.MergePatchType, data, metav1.PatchOptions{}, "status") // want `locked: `
	return err
}

// Near miss of blind-json: the data tests what it replaces.
func tests(ctx context.Context, d dynamic.ResourceInterface) error {
	data := []byte(`[{"op":"test","path":"/status/phase","value":"a"},{"op":"replace","path":"/status/phase","value":"b"}]`)
	_, err := d.Patch(ctx, "x", types.JSONPatchType, data, metav1.PatchOptions{}, "status") // want `locked: `
	return err
}

// Where the bytes come from callers that cannot be seen, nobody knows.
func Unknown(ctx context.Context, c kubernetes.Interface, data []byte) error {
	_, err := c.CoreV1().Pods("ns").Patch(ctx, "p", types.MergePatchType, data, metav1.PatchOptions{}, "status") // want `unknown: the patch's data is the parameter data of Unknown`
	return err
}
