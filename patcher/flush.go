package patcher

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Flush writes what changed in the status since the base, in one request under the optimistic lock, and makes what the API
// server returned the new base. If nothing changed, Flush sends no request and leaves the status alone. It may be called any
// number of times.
//
// The request is a merge patch. It is a JSON patch under the same lock if the change stores a null, which a merge patch cannot
// express, or if PatchListEntries is set and only entries of lists changed.
//
// If the API server stores exactly what was sent, the object's status stays in place, and pointers into it remain valid. If it
// stores something else, because it fills in defaults or prunes fields, the status is replaced by what it returned. If it
// stores nothing new, the result is ResultUnchanged, and functions registered with OnFlushed are not called.
//
// Errors: a *ConflictError if the object changed since it was read; ErrStaleBase; a *WriteOnceError, before any request, if a
// write-once field would change, or a *NotOwnedError; ErrInvalidCondition, after everything else was written; ErrInsideMutate; ErrReplaced; ErrNoStatusSubresource; ErrUnknownOutcome; the API server's own, such as an
// Invalid or a NotFound. On any error but ErrInvalidCondition, neither the object nor the base has changed, so the next Flush
// still includes what was not written.
//
// Once the API server has refused the base, because the object changed, was replaced or is gone, later calls return the same
// error without a request, until Refresh, or a Retry that succeeds.
func (p *Patcher[T, S]) Flush(ctx context.Context) (Result, error) { return p.flushAllowing(ctx, nil) }

// FlushWith is Flush with options: AllowRewrite.
func (p *Patcher[T, S]) FlushWith(ctx context.Context, opts ...FlushOption) (Result, error) {
	allowed := newRetryOptions(opts).allowRewrite
	if err := p.client.checkAllowed(p.key(), allowed); err != nil {
		return "", err
	}
	return p.flushAllowing(ctx, allowed)
}

func (p *Patcher[T, S]) flushAllowing(ctx context.Context, rewrites []string) (Result, error) {
	if err := p.client.mayWrite("Flush", p.obj); err != nil {
		return "", err
	}
	if p.isIdle() {
		return ResultUnchanged, nil
	}
	t := p.client.begin(OperationFlush)
	result, err := p.flush(ctx, rewrites, &t)
	if err == nil {
		err = p.problem()
	}
	result, err = p.client.end(ctx, p.key(), t, result, err)
	p.note(err)
	return result, err
}

// isIdle reports whether a Flush has nothing to send and nobody to tell.
func (p *Patcher[T, S]) isIdle() bool {
	return p.client.options.observer == nil && len(p.problems) == 0 && p.client.kind.Equal(&p.base.status, p.status())
}

func (p *Patcher[T, S]) flush(ctx context.Context, rewrites []string, t *tally) (Result, error) {
	d, err := p.client.diff(&p.base.status, p.status())
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", p.describe(), err)
	case d == nil:
		return ResultUnchanged, nil
	case p.isStale():
		return "", p.staleBase()
	case p.refused != nil:
		return "", p.refused
	}
	if err := p.client.checkContracts(p.key(), &p.base.status, d, rewrites); err != nil {
		return "", err
	}
	before := p.base
	result, err := p.write(ctx, d, t)
	if err != nil {
		return "", err
	}
	if result != ResultUnchanged {
		p.flushed(&before.status)
	}
	return result, nil
}

// note remembers why the base was refused, so that it is not sent again, and which status was found invalid.
func (p *Patcher[T, S]) note(err error) {
	p.invalid = invalid[S]{}
	switch {
	case err == nil:
	case isRefusal(err):
		p.refused = err
	case apierrors.IsInvalid(err):
		p.invalid = invalid[S]{err: err, on: p.base, status: p.client.kind.statusCopy(p.status())}
	}
}

// invalid is a status that the API server has found invalid, and the base that it was a change of.
type invalid[S any] struct {
	err    error
	on     *base[S]
	status *S
}

func (p *Patcher[T, S]) isInvalidStill() bool {
	return p.invalid.err != nil && p.invalid.on == p.base && p.client.kind.Equal(p.invalid.status, p.status())
}

func (p *Patcher[T, S]) write(ctx context.Context, d *change[S], t *tally) (Result, error) {
	answer, err := p.client.writeStatus(ctx, p.key(), p.base.identity, d, t)
	var conflict *ConflictError
	switch {
	case !errors.As(err, &conflict):
	case p.client.owner != nil && p.client.owner.Rebases:
		return p.rebaseOwned(ctx, d, conflict, t)
	case p.client.options.rebase:
		return p.rebase(ctx, d, conflict, t)
	}
	if err != nil {
		return "", err
	}
	if answer.GetResourceVersion() == p.base.identity.resourceVersion {
		// The server stored nothing: it set the fields back to their defaults, or was only asked to try (a dry run).
		p.showAnswer(d, answer)
		return ResultUnchanged, nil
	}
	// A write of status changes no metadata, and what the caller read of it may be less than what the server has.
	p.acknowledge(d, answer, p.base.metadata)
	return ResultPatched, nil
}

// acknowledge moves the base to the answer, and the caller's object with it as far as is the server's to say.
func (p *Patcher[T, S]) acknowledge(d *change[S], answer T, m metadata) {
	p.showAnswer(d, answer)
	b := &base[S]{status: *p.client.kind.Status(answer), identity: identityOf(answer)}
	b.metadata = m.clone(b.room[:0])
	p.moveTo(answer, b)
}

// showAnswer leaves the caller's status in place if the server's answer is what was sent.
func (p *Patcher[T, S]) showAnswer(d *change[S], answer T) {
	answered := p.client.kind.Status(answer)
	if stored, err := p.client.equalStatus(&d.sent, answered); err == nil && stored {
		p.keepInPlace(d)
	} else {
		p.replaceStatus(answered)
	}
}

// moveTo makes b, the state of the answer, the base, and takes the answer's version over. Managed fields belong to the
// server: stale ones in a later Update would take the ownership of this write back.
func (p *Patcher[T, S]) moveTo(answer T, b *base[S]) {
	p.base = b
	p.client.remember(p.key(), b)
	p.obj.SetResourceVersion(answer.GetResourceVersion())
	if len(p.obj.GetManagedFields()) > 0 {
		p.obj.SetManagedFields(answer.GetManagedFields())
	}
}

// keepInPlace leaves the caller's status where it is, but for the conditions that were normalised for sending.
func (p *Patcher[T, S]) keepInPlace(d *change[S]) {
	copy(p.client.kind.readConditions(p.status()), p.client.kind.readConditions(&d.sent))
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
