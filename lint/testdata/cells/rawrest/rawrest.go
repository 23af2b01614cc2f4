package rawrest

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "example.com/cells/api/v1"
)

func patch(ctx context.Context, c rest.Interface, name string) error {
	body := []byte(`{"status":{"phase":"Ready"}}`)
	return c.Patch(types.MergePatchType).Resource("cells").Name(name).SubResource("status").Body(body).Do(ctx).Error() // want `blind-json: `
}

func raw(ctx context.Context, c kubernetes.Interface, name string) error {
	body, err := json.Marshal(map[string]any{"status": map[string]any{"phase": "Ready"}})
	if err != nil {
		return err
	}
	_, err = c.CoreV1().RESTClient().Patch(types.StrategicMergePatchType). // want `blind-json: `
										AbsPath("/api/v1/nodes", name, "status").Body(body).DoRaw(ctx)
	return err
}

func put(ctx context.Context, c rest.Interface, cell *v1.Cell) error {
	return c.Put().Resource("cells").Name(cell.Name).SubResource("status").Body(cell).Do(ctx).Into(cell) // want `update: `
}

func putMade(ctx context.Context, c rest.Interface, name string) error {
	cell := &v1.Cell{}
	cell.Name = name
	return c.Put().Resource("cells").Name(name).SubResource("status").Body(cell).Do(ctx).Error() // want `blind-update: `
}

func versioned(ctx context.Context, c rest.Interface, cell *v1.Cell) error {
	body := []byte(`{"metadata":{"resourceVersion":"` + cell.ResourceVersion + `"},"status":{"phase":"Ready"}}`)
	return c.Patch(types.MergePatchType).Resource("cells").Name(cell.Name).SubResource("status").Body(body).Do(ctx).Error() // want `locked: `
}

// Nothing of the status is written.
func others(ctx context.Context, c rest.Interface, cell *v1.Cell) error {
	if err := c.Get().Resource("cells").Name(cell.Name).SubResource("status").Do(ctx).Into(cell); err != nil {
		return err
	}
	return c.Put().Resource("cells").Name(cell.Name).Body(cell).Do(ctx).Error()
}
