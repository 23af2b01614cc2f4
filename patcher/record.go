package patcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxRecord is how long one Record may take in all.
const maxRecord = 30 * time.Second

// Record writes the value of a write-once field: an ID that only an external system can assign. Call it right after the side effect.
// The ID is written if that is possible at all: after a conflict and after an unknown outcome, on an object that is being deleted,
// and for five seconds after ctx has ended. Generated code calls it with the path of the field.
//
// After a conflict, Record reads live. It writes only if the object is the same, the field is empty, the field's parent existed when
// the object was read and exists now, and the other write-once fields of that parent have not changed: otherwise the resource of one
// plan would be recorded in another one. If the field has the value already, Record returns nil.
//
// Only the field is written, with what the schema requires beside it. Other edits stay pending, and an invalid condition does
// not block the write. After a Record that had to read again, the patcher writes nothing else until Refresh.
//
// Every error is a *NotRecordedError, except for an empty value: nothing refers to the external resource, so delete it.
func Record[V any, T client.Object, S any](ctx context.Context, p *Patcher[T, S], path string, value V) error {
	t := p.client.begin(OperationRecord)
	w := &onceWrite[T, S]{patcher: p, field: p.client.onceField(path), value: reflect.ValueOf(&value).Elem(), tally: &t}
	if !w.field.accepts(w.value) {
		return fmt.Errorf("%s: Record of status.%s: the value is empty", p.describe(), path)
	}
	r := &record[T, S]{onceWrite: w}
	err := p.client.mayWrite("Record", p.obj)
	if err == nil {
		err = r.run(ctx)
	}
	if err != nil {
		err = &NotRecordedError{Kind: p.client.kind.Name, Key: p.key(), Path: path, Value: w.field.text(w.value), Existing: r.existing, Reason: err}
	}
	result := ResultPatched
	if t.attempts == 0 {
		result = ResultUnchanged // it was there already
	}
	_, err = p.client.end(ctx, p.key(), t, result, err)
	return err
}

// record is one call of Record.
type record[T client.Object, S any] struct {
	*onceWrite[T, S]
	// existing is the other value that the field has.
	existing string
	// outdated is why the base is not good any more.
	outdated error
	// unknown is an outcome that is not known, of a write that was locked to unknownOn.
	unknown   error
	unknownOn string
}

func (r *record[T, S]) run(ctx context.Context) error {
	if done, err := r.isSettled(); done {
		return err
	}
	ctx, cancel := withGrace(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, maxRecord)
	defer cancel()
	for tries := 0; ; tries++ {
		done, err := r.try(ctx)
		if !done && !r.patcher.client.pause(ctx, minBackoff<<min(tries, 10)) {
			done, err = true, fmt.Errorf("its time is up (%w): %w", ctx.Err(), err)
		}
		switch {
		case done && err != nil && r.unknown != nil && !errors.Is(err, r.unknown):
			return fmt.Errorf("%w; before that, %w", err, r.unknown)
		case done:
			return err
		}
	}
}

// isSettled reports whether the base and the object tell all that there is to know.
func (r *record[T, S]) isSettled() (bool, error) {
	p := r.patcher
	known, _ := r.field.in(reflect.ValueOf(&p.base.status).Elem())
	pending, _ := r.field.in(reflect.ValueOf(p.status()).Elem())
	switch {
	case p.isStale():
		r.outdated = p.client.conflict(p.key(), p.base.identity.resourceVersion, 0, errOutdated(p.client.kind.Name, p.obj.GetName()))
	case p.refused != nil:
		r.outdated = p.refused
	case hasValue(known) && r.field.same(known, r.value):
		return true, nil
	case hasValue(known):
		return true, r.has(known)
	case hasValue(pending) && !r.field.same(pending, r.value):
		r.existing = r.field.text(pending)
		return true, errors.New("the object has another value pending")
	}
	return false, nil
}

func (r *record[T, S]) has(other reflect.Value) error {
	r.existing = r.field.text(other)
	return errors.New("another value was recorded before")
}

// try writes once: on the base, or else on what a live read returns. It reports done when that has settled the matter.
func (r *record[T, S]) try(ctx context.Context) (done bool, err error) {
	if r.outdated == nil {
		return r.onBase(ctx)
	}
	return r.onLive(ctx)
}

func (r *record[T, S]) onBase(ctx context.Context) (done bool, err error) {
	answer, err := r.write(ctx, r.patcher.base.identity, &r.patcher.base.status)
	if err == nil {
		return true, r.landed(answer)
	}
	return r.failed(err)
}

func (r *record[T, S]) onLive(ctx context.Context) (done bool, err error) {
	p := r.patcher
	if !p.client.hasLiveReader() {
		return true, fmt.Errorf("%w: %w", ErrNoLiveReader, r.outdated)
	}
	live, err := p.client.readLive(ctx, p.key())
	switch {
	case apierrors.IsNotFound(err):
		return true, fmt.Errorf("the object is gone: %w", err)
	case err != nil:
		return !isTransient(err) && !isNetwork(err), err
	}
	if live.GetResourceVersion() != r.unknownOn {
		r.unknown = nil // it has landed, and the value is there, or it never will
	}
	status := p.client.kind.Status(live)
	if !r.isIn(status) || !p.base.identity.isSame(identityOf(live)) {
		if err := r.mayWrite(live); err != nil {
			return true, err
		}
		answer, err := r.write(ctx, identityOf(live), status)
		if err != nil {
			return r.failed(err)
		}
		if err := r.stored(answer, live.GetResourceVersion()); err != nil {
			return true, err
		}
		for _, f := range p.onFlushed {
			f(p.client.kind.statusCopy(status), p.client.kind.statusCopy(p.client.kind.Status(answer)))
		}
	}
	r.takeOutdated(r.outdated)
	return true, nil
}

func (r *record[T, S]) write(ctx context.Context, on identity, status *S) (T, error) {
	d, err := r.change(status)
	if err != nil {
		var none T
		return none, err
	}
	answer, err := r.patcher.client.writeStatus(ctx, r.patcher.key(), on, d, r.tally)
	if errors.Is(err, ErrUnknownOutcome) {
		r.unknown, r.unknownOn = err, on.resourceVersion
	}
	return answer, err
}

// failed says whether there is another try, after a write that failed.
func (r *record[T, S]) failed(err error) (done bool, reason error) {
	var conflict *ConflictError
	switch {
	case errors.As(err, &conflict):
		if r.outdated == nil {
			r.outdated = conflict
		}
		return false, err
	case errors.Is(err, errGone):
		return true, errors.New("the object is gone")
	case errors.Is(err, ErrUnknownOutcome):
		return false, err
	}
	return !isTransient(err), err
}

// isTransient reports whether the same request may succeed in a moment.
func isTransient(err error) bool {
	var op *net.OpError
	return !isDenied(err) && (errors.As(err, &op) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err))
}

// isNetwork reports whether a read got no answer of the API server.
func isNetwork(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status)
}

// mayWrite is an error if live is not the object, or its parent not the one, that the external resource belongs to.
func (r *record[T, S]) mayWrite(live T) error {
	p := r.patcher
	if now := identityOf(live); !p.base.identity.isSame(now) {
		return fmt.Errorf("%w: it has UID %s, not %s", ErrReplaced, now.uid, p.base.identity.uid)
	}
	was, is := reflect.ValueOf(&p.base.status).Elem(), reflect.ValueOf(p.client.kind.Status(live)).Elem()
	value, parent := r.field.in(is)
	_, hadParent := r.field.in(was)
	switch {
	case hasValue(value):
		return r.has(value)
	case !hadParent:
		return errors.New("the object that the field is in did not exist when the object was read")
	case !parent:
		return errors.New("the object that the field is in does not exist any more")
	}
	return r.sameParents(was, is)
}

// sameParents is an error if a parent has become another one: if a write-once field in it has changed. What tells a status
// from another one is the UID of the object.
func (r *record[T, S]) sameParents(was, is reflect.Value) error {
	for i := range r.patcher.client.kind.onceFields {
		f := &r.patcher.client.kind.onceFields[i]
		if f.path == r.field.path || len(f.scope) == 0 || len(f.scope) > len(r.field.scope) || !slices.Equal(f.scope, r.field.scope[:len(f.scope)]) {
			continue
		}
		old, _ := f.in(was)
		now, _ := f.in(is)
		if hasValue(old) != hasValue(now) || !f.same(old, now) {
			return fmt.Errorf("it belongs to another status.%s: %q, which is now %q", f.path, f.text(old), f.text(now))
		}
	}
	return nil
}
