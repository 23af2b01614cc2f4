// Package patching has the interface.
package patching

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Patcher patches status.
type Patcher interface {
	Patch(ctx context.Context, cell *v1.Cell, patch client.Patch) error
	Store(ctx context.Context, cell *v1.Cell, patch client.Patch) error
}
