package moved

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "example.com/operator/api/v1"
)

type holder struct{ *Reconciler }

type clients struct {
	holder
	mgr manager.Manager
	c   client.Client
}

// The client is a field, embedded twice, a parameter, and what a manager returns.
func (c *clients) write(ctx context.Context, cell *v1.Cell, direct client.Client) error {
	if err := c.c.Status().Update(ctx, cell); err != nil {
		return err
	}
	if err := c.Status().Update(ctx, cell); err != nil {
		return err
	}
	if err := direct.Status().Update(ctx, cell); err != nil {
		return err
	}
	v1status := "taken"
	_ = v1status
	return c.mgr.GetClient().Status().Update(ctx, cell)
}
