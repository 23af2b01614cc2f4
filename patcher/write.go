package patcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errGone ends a write to an object that was being deleted and is gone; it becomes ResultGone.
var errGone = errors.New("the object is gone")

// writeStatus sends the change, locked to the identity that it was made on, and returns what the server answered. The
// answer goes into an object of its own: the caller's may have edits of spec and metadata that are not saved yet.
func (c *Client[T, S]) writeStatus(ctx context.Context, key client.ObjectKey, on identity, d *change[S], t *tally) (T, error) {
	answer := c.kind.New()
	answer.SetName(key.Name)
	answer.SetNamespace(key.Namespace)
	patch, err := d.patch(on.resourceVersion)
	if err != nil {
		return answer, fmt.Errorf("%s: building the patch: %w", c.describe(key), err)
	}
	return answer, c.send(ctx, key, on, answer, t, func() error {
		return c.client.Status().Patch(ctx, answer, patch)
	})
}

// send makes one request that is locked to on, and turns what the server answers into what is known.
func (c *Client[T, S]) send(ctx context.Context, key client.ObjectKey, on identity, answer T, t *tally, request func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: not sent: %w", c.describe(key), err)
	}
	t.attempts++
	err := request()
	switch {
	case err == nil:
		if answer.GetResourceVersion() != on.resourceVersion {
			c.memory.versions.replaced(c.options.clock.Now(), key, on.resourceVersion, answer.GetResourceVersion())
		}
		c.memory.streaks.end(key)
		return nil
	case apierrors.IsConflict(err) && !isDenied(err):
		t.conflicts++
		c.memory.versions.outdated(c.options.clock.Now(), key, on.resourceVersion)
		return c.conflict(key, on.resourceVersion, t.attempts, err)
	case apierrors.IsNotFound(err):
		return c.settleNotFound(ctx, key, on, err)
	case outcomeIsUnknown(err):
		c.memory.versions.outdated(c.options.clock.Now(), key, on.resourceVersion)
		return fmt.Errorf("%s: %w: %w", c.describe(key), ErrUnknownOutcome, err)
	}
	return fmt.Errorf("%s: not written: %w", c.describe(key), err)
}

func (c *Client[T, S]) conflict(key client.ObjectKey, resourceVersion string, attempts int, err error) *ConflictError {
	return &ConflictError{Kind: c.kind.Name, Key: key, ResourceVersion: resourceVersion, Attempts: attempts, err: err}
}

// settleNotFound tells a 404 for an object that is gone from a 404 for a subresource that does not exist: the server
// answers the same for both, so one live read decides.
func (c *Client[T, S]) settleNotFound(ctx context.Context, key client.ObjectKey, on identity, notFound error) error {
	if !c.hasLiveReader() {
		return c.settleUnread(key, on, notFound)
	}
	live, err := c.readLive(ctx, key)
	switch {
	case err == nil && on.isSame(identityOf(live)):
		return fmt.Errorf("%s: %w: add +kubebuilder:subresource:status to the type and apply its CRD again (with the fake client, WithStatusSubresource): %w",
			c.describe(key), ErrNoStatusSubresource, notFound)
	case err == nil:
		return fmt.Errorf("%s: %w: it has UID %s, not %s: %w", c.describe(key), ErrReplaced, live.GetUID(), on.uid, notFound)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %w (the live read that would tell whether it is gone or has no status subresource: %w)", c.describe(key), notFound, err)
	case isNotServed(err):
		return fmt.Errorf("%s: the API server does not serve the kind, is its CRD installed? %w", c.describe(key), notFound)
	}
	return c.gone(key, on, notFound)
}

// settleUnread takes the word of the write, since nothing can be read: an object that was being deleted is gone.
func (c *Client[T, S]) settleUnread(key client.ObjectKey, on identity, notFound error) error {
	if on.deleting() && !isNotServed(notFound) {
		return c.gone(key, on, notFound)
	}
	return fmt.Errorf("%s: it is gone, or has no status subresource: %w", c.describe(key), notFound)
}

func (c *Client[T, S]) gone(key client.ObjectKey, on identity, notFound error) error {
	c.memory.streaks.end(key)
	if on.deleting() {
		return errGone
	}
	return &goneError{text: fmt.Sprintf("%s: it is gone: %v", c.describe(key), notFound), err: notFound}
}

// delayed stamps the error that ends a call with how long a requeue should wait, longer with each conflict in a row. One
// that mutate passed on from another patcher has its delay already.
func (c *Client[T, S]) delayed(key client.ObjectKey, err error) error {
	var conflict *ConflictError
	var stop *stopError
	var delay *time.Duration
	switch {
	case errors.As(err, &conflict):
		delay = &conflict.requeueAfter
	case errors.As(err, &stop):
		delay = &stop.requeueAfter
	}
	if delay != nil && *delay == 0 {
		*delay = requeueDelay(c.memory.streaks.lengthen(c.options.clock.Now(), key), c.options.jitter)
	}
	return err
}
