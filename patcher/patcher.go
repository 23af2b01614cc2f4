package patcher

import (
	"context"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Patcher writes the status of one object. It belongs to one reconcile and must not be used by several goroutines. The
// generated StatusPatchers wrap it, and its methods are documented here.
type Patcher[T client.Object, S any] struct {
	client *Client[T, S]
	// obj is the caller's own pointer.
	obj  T
	base *base[S]
	// active and generation are what the condition helpers work on and stamp: obj and the generation it was read with, or
	// inside Retry's mutate those of the current attempt.
	active     T
	generation int64
	onFlushed  []func(before, after *S)
	// refused is what the API server answered when it refused the base; such a base is not sent again.
	refused error
	// invalid is what it found invalid.
	invalid invalid[S]
	// problems are the conditions that were left out since the last write.
	problems []string
	// stamped is the generation of another object to stamp; 0 for the object's own.
	stamped int64
	// unsure are the values of Claims whose outcome is unknown, by path: the next Claim sends the same one.
	unsure map[string]reflect.Value
	// first is the base of a patcher that shares it with nobody, so that a patcher is one allocation.
	first base[S]
}

func (p *Patcher[T, S]) open(c *Client[T, S], obj T, b *base[S]) {
	p.client, p.obj, p.base, p.active, p.generation = c, obj, b, obj, obj.GetGeneration()
}

// Object returns the object that was fetched or passed to For. Callees may change its Status through any pointer.
func (p *Patcher[T, S]) Object() T { return p.obj }

// Observed returns a copy of the last status that the API server acknowledged.
func (p *Patcher[T, S]) Observed() *S { return p.client.kind.statusCopy(&p.base.status) }

// Changed reports whether Flush would send a request. It changes nothing.
func (p *Patcher[T, S]) Changed() bool {
	equal, err := p.client.equalStatus(&p.base.status, p.status())
	return err != nil || !equal
}

// OnFlushed registers a function that is called after each status write that the API server stored, with copies of the status
// before and after it. It is the place for events and metrics that must not report what did not happen: f is not called if
// the server stored nothing new, as on a dry run.
func (p *Patcher[T, S]) OnFlushed(f func(before, after *S)) { p.onFlushed = append(p.onFlushed, f) }

// Refresh reads the object live into the patcher and the caller's object, and discards unsaved edits. After a conflict it lets
// the reconcile go on with the newer object. Errors: ErrNoLiveReader; ErrInsideMutate; the API server's own, such as a
// NotFound. On an error nothing has changed.
func (p *Patcher[T, S]) Refresh(ctx context.Context) error {
	if err := p.client.mayWrite("Refresh", p.obj); err != nil {
		return err
	}
	fresh, err := p.client.readLive(ctx, p.key())
	if err != nil {
		return fmt.Errorf("%s: Refresh: %w", p.describe(), err)
	}
	p.restart(fresh)
	return nil
}

// Discard drops unsaved edits of the status: the status becomes that of the base, without a read. Pointers into the status
// that were taken before point to the discarded one.
func (p *Patcher[T, S]) Discard() { p.replaceStatus(&p.base.status) }

// restart makes fresh, which nobody else holds, the base and the caller's object.
func (p *Patcher[T, S]) restart(fresh T) {
	if p.base != nil && p.base.identity.resourceVersion != fresh.GetResourceVersion() {
		p.unsure = nil // what has landed is in fresh, and the rest never will
	}
	p.base = p.client.capture(fresh, new(base[S]))
	p.client.remember(p.key(), p.base)
	keepTypeMeta(p.obj, fresh)
	p.client.kind.Assign(p.obj, fresh)
	p.generation, p.refused, p.invalid = fresh.GetGeneration(), nil, invalid[S]{}
}

func (p *Patcher[T, S]) status() *S { return p.client.kind.Status(p.obj) }

func (p *Patcher[T, S]) key() client.ObjectKey { return client.ObjectKeyFromObject(p.obj) }

// isStale: somebody wrote or read the object behind the patcher.
func (p *Patcher[T, S]) isStale() bool {
	return p.obj.GetResourceVersion() != p.base.identity.resourceVersion
}

func (p *Patcher[T, S]) flushed(before *S) {
	for _, f := range p.onFlushed {
		f(p.client.kind.statusCopy(before), p.Observed())
	}
}
