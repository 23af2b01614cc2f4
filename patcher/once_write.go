package patcher

import (
	"errors"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A onceWrite writes one write-once field, for Claim and for Record, and leaves the caller's other edits pending.
type onceWrite[T client.Object, S any] struct {
	patcher *Patcher[T, S]
	field   *onceField
	value   reflect.Value
	tally   *tally
}

// change gives the field its value in that state, with what the schema requires beside it.
func (w *onceWrite[T, S]) change(status *S) (*change[S], error) {
	c := w.patcher.client
	with := c.kind.statusCopy(status)
	w.field.set(reflect.ValueOf(with).Elem(), w.value)
	d, err := c.diff(status, with)
	if err == nil && d == nil {
		err = fmt.Errorf("status.%s: the value has no JSON", w.field.path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.patcher.describe(), err)
	}
	return d, nil
}

// isIn reports whether the status has the value.
func (w *onceWrite[T, S]) isIn(status *S) bool {
	value, _ := w.field.in(reflect.ValueOf(status).Elem())
	return hasValue(value) && w.field.same(value, w.value)
}

// landed takes the answer of a write on the base, if the value was stored.
func (w *onceWrite[T, S]) landed(answer T) error {
	if err := w.stored(answer, w.patcher.base.identity.resourceVersion); err != nil {
		return err
	}
	w.take(answer)
	return nil
}

// stored is an error if the API server did not store the value, although it accepted the write.
func (w *onceWrite[T, S]) stored(answer T, on string) error {
	p := w.patcher
	switch {
	case answer.GetResourceVersion() == on:
		return fmt.Errorf("%s: status.%s was not stored: the API server stored nothing, is this a dry run?", p.describe(), w.field.path)
	case !w.isIn(p.client.kind.Status(answer)):
		return fmt.Errorf("%s: status.%s was not stored: the API server dropped or changed it; apply the CRD that has the field, and look for a webhook that changes it", p.describe(), w.field.path)
	}
	return nil
}

// take makes the answer the base, and gives the caller's object the value.
func (w *onceWrite[T, S]) take(answer T) {
	p, before := w.patcher, w.patcher.base
	delete(p.unsure, w.field.path)
	if p.client.options.sharedCache {
		p.client.ownStatus(p.obj) // it may still be the cache's
	}
	answered := p.client.kind.Status(answer)
	untouched, err := p.client.equalStatus(&before.status, p.status())
	w.field.adopt(reflect.ValueOf(p.status()).Elem(), reflect.ValueOf(p.client.kind.statusCopy(answered)).Elem())
	if stored, same := p.client.equalStatus(answered, p.status()); err == nil && untouched && (same != nil || !stored) {
		p.replaceStatus(answered) // nothing is pending, and the API server has filled something in
	}
	b := &base[S]{status: *answered, identity: identityOf(answer)}
	b.metadata = before.metadata.clone(b.room[:0])
	p.moveTo(answer, b)
	p.flushed(&before.status)
}

// takeOutdated gives the base and the object the value, which is stored, but on a version of which the caller has seen nothing else.
// The patcher writes nothing more on that base.
func (w *onceWrite[T, S]) takeOutdated(conflict error) {
	p := w.patcher
	delete(p.unsure, w.field.path)
	b := &base[S]{status: *p.client.kind.statusCopy(&p.base.status), identity: p.base.identity}
	b.metadata = p.base.metadata.clone(b.room[:0])
	_, hadParent := w.field.in(reflect.ValueOf(&b.status).Elem())
	w.field.set(reflect.ValueOf(&b.status).Elem(), w.value)
	p.base = b
	if p.client.options.sharedCache {
		p.client.ownStatus(p.obj)
	}
	// A parent that the caller has removed stays removed.
	if _, parent := w.field.in(reflect.ValueOf(p.status()).Elem()); parent || !hadParent {
		w.field.set(reflect.ValueOf(p.status()).Elem(), w.value)
	}
	var refused *ConflictError
	if errors.As(conflict, &refused) {
		p.refused = p.client.delayed(p.key(), conflict)
	}
}
