// Package storing implements the interface.
package storing

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

// Store writes to the API server.
type Store struct{ client.Client }

// Patch gets its patch through the interface.
func (s *Store) Patch(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return s.Status().Patch(ctx, cell, patch)
}

// Store gets its patch through the interface.
func (s *Store) Store(ctx context.Context, cell *v1.Cell, patch client.Patch) error {
	return s.Status().Patch(ctx, cell, patch)
}
