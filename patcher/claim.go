package patcher

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Claim returns the value of a write-once field: the one that the base has, or else the one that mint returns, once the API server
// has stored it. Call it before a side effect, and use the value as the idempotency key of that side effect: whoever claims after a
// crash gets the same value. Generated code calls it with the path of the field.
//
// Only the field is written, with what the schema requires beside it, under the lock of the base. Other edits stay pending, and an
// invalid condition does not block the write. mint must have no effects. If it panics, nothing is written. If the outcome of
// the write is unknown, the same value is sent again, by this call and by the next one on the same patcher.
//
// Errors: a *WriteOnceError if the object has another value pending; a *ConflictError if the object changed since it was read, unless
// a live read finds the same value in it; ErrStaleBase; ErrInsideMutate; ErrUnknownOutcome; the API server's own, such as a NotFound.
// On an error the object and the base have not changed.
func Claim[V any, T client.Object, S any](ctx context.Context, p *Patcher[T, S], path string, mint func() V) (V, error) {
	var none V
	if err := p.client.mayWrite("Claim", p.obj); err != nil {
		return none, err
	}
	f := p.client.onceField(path)
	known, err := p.claimed(f)
	if err != nil {
		return none, err
	}
	if known.IsValid() {
		return known.Interface().(V), nil
	}
	value := p.unsure[path]
	if !value.IsValid() {
		minted := mint()
		value = reflect.ValueOf(&minted).Elem()
	}
	if err := p.mayClaim(f, value); err != nil {
		return none, err
	}
	t := p.client.begin(OperationClaim)
	w := &onceWrite[T, S]{patcher: p, field: f, value: value, tally: &t}
	result, err := p.client.end(ctx, p.key(), t, ResultPatched, w.claim(ctx))
	p.note(err)
	if err != nil || result != ResultPatched {
		return none, err
	}
	return value.Interface().(V), nil
}

// claimed returns the value that the base has, if it has one. The value is not valid if it has none.
func (p *Patcher[T, S]) claimed(f *onceField) (reflect.Value, error) {
	value, _ := f.in(reflect.ValueOf(&p.base.status).Elem())
	pending, _ := f.in(reflect.ValueOf(p.status()).Elem())
	switch {
	case p.isStale():
		return value, p.staleBase()
	case p.refused != nil:
		return value, p.refused
	case !hasValue(value):
		return reflect.Value{}, nil
	case !hasValue(pending) || !f.same(value, pending):
		return value, p.client.writeOnceError(p.key(), f, value, pending)
	}
	return indirect(value), nil
}

// mayClaim is an error for a value that is none, or is not the one that is pending in the object.
func (p *Patcher[T, S]) mayClaim(f *onceField, value reflect.Value) error {
	pending, _ := f.in(reflect.ValueOf(p.status()).Elem())
	switch {
	case !f.accepts(value):
		return fmt.Errorf("%s: Claim of status.%s: mint returned an empty value", p.describe(), f.path)
	case hasValue(pending) && !f.same(pending, value):
		return p.client.writeOnceError(p.key(), f, reflect.Value{}, pending)
	}
	return nil
}

// claimTries bounds how often one Claim sends its value while the outcome is unknown.
const claimTries = 3

// claim writes the value on the base, and settles what is not known.
func (w *onceWrite[T, S]) claim(ctx context.Context) error {
	p := w.patcher
	d, err := w.change(&p.base.status)
	if err != nil {
		return err
	}
	var unknown error
	for range claimTries {
		answer, err := p.client.writeStatus(ctx, p.key(), p.base.identity, d, w.tally)
		var conflict *ConflictError
		switch {
		case err == nil:
			return w.landed(answer)
		case errors.As(err, &conflict):
			return w.settleConflict(ctx, d, conflict, unknown)
		case errors.Is(err, errGone):
			return w.gone()
		case !errors.Is(err, ErrUnknownOutcome):
			return err
		}
		unknown = err
		if p.unsure == nil {
			p.unsure = map[string]reflect.Value{}
		}
		p.unsure[w.field.path] = w.value
		if ctx.Err() != nil {
			break
		}
	}
	return unknown
}

// settleConflict looks whether the value is there: an earlier request has landed whose response was lost.
func (w *onceWrite[T, S]) settleConflict(ctx context.Context, d *change[S], conflict *ConflictError, unknown error) error {
	p := w.patcher
	if !p.client.hasLiveReader() {
		return errors.Join(unknown, conflict)
	}
	live, err := p.client.readLive(ctx, p.key())
	switch {
	case err != nil && unknown != nil:
		return fmt.Errorf("%w (the live read that would tell: %w)", unknown, err)
	case err != nil || !p.base.identity.isSame(identityOf(live)) || !w.isIn(p.client.kind.Status(live)):
		return conflict
	case w.isOnlyChange(d, live):
		w.take(live)
		return nil
	}
	w.takeOutdated(conflict)
	return nil
}

// isOnlyChange reports whether live is the base with the change and nothing else, so that the patcher can go on from it.
func (w *onceWrite[T, S]) isOnlyChange(d *change[S], live T) bool {
	p := w.patcher
	base, now := p.base.identity, identityOf(live)
	equal, err := p.client.equalStatus(&d.sent, p.client.kind.Status(live))
	return err == nil && equal && base.generation == now.generation && now.generation != 0 &&
		base.deletionTimestamp.Equal(&now.deletionTimestamp) && p.base.metadata.equals(live)
}

func (w *onceWrite[T, S]) gone() error {
	p := w.patcher
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: p.client.kind.Name}, p.obj.GetName())
	return &goneError{text: fmt.Sprintf("%s: it is gone", p.describe()), err: notFound}
}
