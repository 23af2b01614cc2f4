package left

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "example.com/operator/api/v1"
)

// reading holds the object that a reconcile is about.
type reading struct {
	client.Client
	cell *v1.Cell
}

func newReading(ctx context.Context, c client.Client, key client.ObjectKey) (*reading, error) {
	cell := &v1.Cell{}
	if err := c.Get(ctx, key, cell); err != nil {
		return nil, err
	}
	r := &reading{Client: c}
	r.cell = cell
	return r, nil
}

// Set-up for tests, in a file that is not named so, makes an object that was never read.
func newFakeReading() *reading {
	cell := &v1.Cell{}
	cell.Name = "one"
	r := &reading{Client: fake.NewClientBuilder().WithObjects(cell).Build()}
	r.cell = cell
	return r
}

func (r *reading) update(ctx context.Context) error {
	cell := r.cell
	cell.Status.Phase = "Updated"
	return r.Status().Update(ctx, cell) // moved
}

// making does the same with an object that production code makes.
type making struct {
	client.Client
	cell *v1.Cell
}

func newMaking(c client.Client, name string) *making {
	cell := &v1.Cell{}
	cell.Name = name
	m := &making{Client: c}
	m.cell = cell
	return m
}

func (m *making) update(ctx context.Context) error {
	cell := m.cell
	cell.Status.Phase = "Updated"
	return m.Status().Update(ctx, cell) // left: the object is made by the code and never read
}
