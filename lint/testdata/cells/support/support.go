// Package support is for tests, so it is left alone by default, functions that no test framework is named in included.
package support

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

func Write(t *testing.T, c client.Client, cell, base *v1.Cell) {
	if err := c.Status().Patch(context.Background(), cell, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
}

func Reset(ctx context.Context, c client.Client, cell *v1.Cell) error {
	base := cell.DeepCopy()
	cell.Status = v1.CellStatus{}
	return c.Status().Patch(ctx, cell, client.MergeFrom(base))
}
