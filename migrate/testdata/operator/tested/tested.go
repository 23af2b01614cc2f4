// Package tested has writes whose requests a test looks at.
package tested

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// Update writes the status, as a test wants it.
func Update(ctx context.Context, c client.Client, cell *v1.Cell) error {
	cell.Status.Phase = "Updated"
	return c.Status().Update(ctx, cell)
}

// Any writes the status, whatever the request.
func Any(ctx context.Context, c client.Client, cell *v1.Cell) error {
	cell.Status.Phase = "Any"
	return c.Status().Update(ctx, cell)
}
