package executor

import "context"

// Snapshots is a storage system outside of the cluster. It assigns the IDs of its snapshots itself, and knows no idempotency keys.
type Snapshots interface {
	// Create takes a snapshot of the Database of that name, and returns its ID.
	Create(ctx context.Context, database string) (id string, err error)
	// Delete deletes a snapshot.
	Delete(ctx context.Context, id string) error
}
