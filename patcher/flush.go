package patcher

import (
	"context"
	"errors"
	"fmt"
)

// Flush writes what changed in the status since the base, in one merge patch under the optimistic lock, and moves the
// base to what the server answered. With nothing changed there is no request. It may be called any number of times.
//
// Errors: a *ConflictError when the object changed since it was read; ErrStaleBase; ErrNoStatusSubresource;
// ErrUnknownOutcome; the API server's own. On an error neither the object nor the base has changed, so what was not
// written is still in the next diff.
//
// Where the server stores exactly what was sent, the object's status stays in place, and pointers into it stay good.
// Where it does not (defaults, pruned fields), the status is replaced by the answer.
func (p *Patcher[T, S]) Flush(ctx context.Context) (Result, error) {
	t := p.client.begin(OperationFlush)
	result, err := p.flush(ctx, &t)
	return p.client.end(ctx, p.key(), t, result, err)
}

func (p *Patcher[T, S]) flush(ctx context.Context, t *tally) (Result, error) {
	if p.client.kind.Equal(&p.base.status, p.status()) {
		return p.unchanged(), nil
	}
	d, err := p.client.change(&p.base.status, p.status())
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", p.describe(), err)
	case d == nil:
		return p.unchanged(), nil
	case p.isStale():
		return "", p.staleBase()
	}
	before := p.base.status
	result, err := p.write(ctx, d, t)
	if err != nil {
		return "", err
	}
	p.flushed(&before)
	return result, nil
}

func (p *Patcher[T, S]) unchanged() Result {
	p.client.streaks.end(p.key())
	return ResultUnchanged
}

func (p *Patcher[T, S]) write(ctx context.Context, d *change[S], t *tally) (Result, error) {
	answer, err := p.client.writeStatus(ctx, p.key(), p.base.identity, d, t)
	var conflict *ConflictError
	if errors.As(err, &conflict) && p.client.options.rebase {
		return p.rebase(ctx, d, conflict, t)
	}
	if err != nil {
		return "", err
	}
	p.acknowledge(d, answer)
	return ResultPatched, nil
}

// acknowledge moves the base to the answer, and the caller's object with it as far as is the server's to say.
func (p *Patcher[T, S]) acknowledge(d *change[S], answer T) {
	answered := p.client.kind.Status(answer)
	if stored, err := p.client.equalStatus(&d.sent, answered); err == nil && stored {
		p.keepInPlace(d)
	} else {
		p.replaceStatus(answered)
	}
	p.base.status = *answered
	p.moveTo(answer)
}

// moveTo takes the answer's version over. Managed fields belong to the server: stale ones in a later Update would take
// the ownership of this write back.
func (p *Patcher[T, S]) moveTo(answer T) {
	p.base.identity, p.base.metadata = identityOf(answer), metadataOf(answer)
	p.obj.SetResourceVersion(answer.GetResourceVersion())
	if len(p.obj.GetManagedFields()) > 0 {
		p.obj.SetManagedFields(answer.GetManagedFields())
	}
}

// keepInPlace leaves the caller's status where it is, but for the conditions that were normalised for sending.
func (p *Patcher[T, S]) keepInPlace(d *change[S]) {
	if p.client.kind.Conditions != nil {
		copy(*p.client.kind.Conditions(p.status()), *p.client.kind.Conditions(&d.sent))
	}
}

func (p *Patcher[T, S]) replaceStatus(from *S) {
	status := p.status()
	*status = *new(S)
	p.client.kind.DeepCopyInto(from, status)
}

func (p *Patcher[T, S]) staleBase() error {
	return fmt.Errorf("%s: %w: it has resourceVersion %q, the base %q; write metadata with PatchMetadata, or Refresh after a write or a read of your own",
		p.describe(), ErrStaleBase, p.obj.GetResourceVersion(), p.base.identity.resourceVersion)
}

func (p *Patcher[T, S]) describe() string { return p.client.describe(p.key()) }
