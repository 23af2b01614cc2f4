package patcher

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// canLock refuses the versions that an API server takes for "any version": a write that carried them would not be locked.
func canLock(resourceVersion string) error {
	if resourceVersion == "" || resourceVersion == "0" {
		return fmt.Errorf("resourceVersion %q does not lock a write: the object was not read from the API server; Fetch it, or pass what Get or List returned", resourceVersion)
	}
	return nil
}

// settleInvalid decides what a 422 for a JSON patch means. The server applies the operations before it compares the
// version, so a patch whose object has changed may fail to apply, which looks like a status that is not valid. One live
// read decides: with another version it is a conflict. With the same version the server may lack what a lean patch leaves out, which is
// then sent; and if the patch had left out nothing, the 422 stands.
func (c *Client[T, S]) settleInvalid(ctx context.Context, key client.ObjectKey, on identity, answer T, d *change[S], t *tally, invalid error) error {
	if c.hasLiveReader() {
		live, err := c.readLive(ctx, key)
		switch {
		case apierrors.IsNotFound(err):
			return c.settleNotFound(ctx, key, on, err)
		case err != nil:
			return fmt.Errorf("%w (the live read that would tell whether the object changed: %w)", invalid, err)
		case live.GetResourceVersion() != on.resourceVersion:
			t.conflicts++
			c.memory.versions.outdated(c.options.clock.Now(), key, on.resourceVersion)
			return c.conflict(key, on.resourceVersion, t.attempts, apierrors.NewConflict(schema.GroupResource{Resource: c.kind.Name}, key.Name,
				fmt.Errorf("the operations of the patch do not apply to resourceVersion %s: %w", live.GetResourceVersion(), invalid)))
		}
	}
	if d.found.null {
		return invalid
	}
	patch, err := d.fullPatch(on.resourceVersion)
	if err != nil {
		return fmt.Errorf("%s: building the patch: %w", c.describe(key), err)
	}
	return c.sendStatus(ctx, key, on, answer, t, patch)
}
