package patcher

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Patcher writes the status of one object. It is made for one reconcile and one goroutine. The generated StatusPatchers
// wrap it, and their methods are documented here.
type Patcher[T client.Object, S any] struct {
	client *Client[T, S]
	// obj is the caller's own pointer.
	obj  T
	base base[S]
	// active and generation are what the condition helpers work on and stamp: obj and the generation it was read with, or
	// inside Retry's mutate those of the current attempt.
	active     T
	generation int64
	onFlushed  []func(before, after *S)
	// room holds the text of the first metadata, so that a patcher is one allocation.
	room [12]string
}

// open starts a patcher on obj, whose status the base still lacks.
func (p *Patcher[T, S]) open(c *Client[T, S], obj T) {
	p.client, p.obj, p.active, p.generation = c, obj, obj, obj.GetGeneration()
	p.base.identity = identityOf(obj)
	p.base.metadata.read(obj, p.room[:0])
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

// OnFlushed calls f after each write of status that landed, with copies of the status before and after it. It is the
// place for events and metrics that must not tell of what did not happen.
func (p *Patcher[T, S]) OnFlushed(f func(before, after *S)) { p.onFlushed = append(p.onFlushed, f) }

// Refresh reads the object live into the patcher and the caller's object, and discards unsaved edits: the way out after
// a conflict when the reconcile is to go on. Errors: ErrNoLiveReader; the API server's own, such as a NotFound. On an error nothing
// has changed.
func (p *Patcher[T, S]) Refresh(ctx context.Context) error {
	fresh, err := p.client.readLive(ctx, p.key())
	if err != nil {
		return fmt.Errorf("%s: Refresh: %w", p.describe(), err)
	}
	p.restart(fresh)
	return nil
}

// restart makes fresh, which nobody else holds, the base and the caller's object.
func (p *Patcher[T, S]) restart(fresh T) {
	p.base = p.client.capture(fresh)
	p.client.kind.Assign(p.obj, fresh)
	p.generation = fresh.GetGeneration()
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
