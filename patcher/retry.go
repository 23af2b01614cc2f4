package patcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Retry reads the object live, runs mutate on a copy of it, and writes the status that mutate leaves. After a conflict it waits
// briefly, reads live again, and runs mutate again: the decision is made anew on the fresh object, and a diff is never
// replayed. If mutate returns an error, nothing is written and Retry returns that error.
//
// Errors: mutate's; a *ConflictError when the attempts are used up; ErrDeleting, unless AllowDeleting is given;
// ErrPendingChanges if mutate changed more than the status; ErrNoLiveReader; ErrUnknownOutcome; the API server's own.
func (c *Client[T, S]) Retry(ctx context.Context, key client.ObjectKey, mutate func(T) error, opts ...RetryOption) (Result, error) {
	t := c.begin(OperationRetry)
	r := retry[T, S]{client: c, key: key, mutate: mutate, options: newRetryOptions(opts), tally: &t}
	landed, err := r.fromLive(ctx)
	return c.end(ctx, key, t, landed.result, err)
}

// RetryWith is Retry for a decision that also uses the patcher p, which must be new. Inside mutate, p sets conditions on the
// object of the current attempt, and functions that mutate registers with OnFlushed are called if that attempt is stored.
// Afterwards p is a patcher of the object that RetryWith returns: the state that was stored.
//
// Writing that object inside mutate, through p or any other way, is refused with ErrInsideMutate.
func (c *Client[T, S]) RetryWith(ctx context.Context, key client.ObjectKey, p *Patcher[T, S], mutate func(T) error, opts ...RetryOption) (T, Result, error) {
	t := c.begin(OperationRetry)
	r := retry[T, S]{client: c, key: key, options: newRetryOptions(opts), tally: &t}
	r.mutate = func(obj T) error {
		p.open(c, obj, r.base)
		p.onFlushed, p.problems = nil, nil
		return mutate(obj)
	}
	landed, err := r.fromLive(ctx)
	if err == nil {
		p.open(c, landed.obj, &base[S]{})
		p.restart(landed.obj)
		err = p.problem()
	}
	if landed.result == ResultPatched {
		p.flushed(&landed.before)
	}
	result, err := c.end(ctx, key, t, landed.result, err)
	if err != nil {
		var none T
		return none, result, err
	}
	return p.obj, result, nil
}

// Retry runs mutate on a copy of the object and writes the status that it leaves. After a conflict it reads live and runs mutate
// again. It is for decisions that depend on nothing but the object. mutate may change the status only.
//
// The caller's object changes only if Retry succeeds; it is then the state that was stored. Edits of the spec that were not
// saved stay in it, unless AllowNewerGeneration let the spec change on the server.
//
// Errors: mutate's; a *ConflictError when the attempts are used up; ErrPendingChanges if status or metadata have unsaved edits,
// or mutate changed more than the status; ErrStaleBase; ErrReplaced; ErrDeleting; ErrGenerationChanged; ErrInsideMutate;
// ErrNoLiveReader; ErrUnknownOutcome; ErrInvalidCondition, after everything else was written; the API server's own, such as a
// NotFound.
func (p *Patcher[T, S]) Retry(ctx context.Context, mutate func(T) error, opts ...RetryOption) (Result, error) {
	if err := p.client.mayWrite("Retry", p.obj); err != nil {
		return "", err
	}
	t := p.client.begin(OperationRetry)
	result, err := p.retry(ctx, mutate, newRetryOptions(opts), &t)
	return p.client.end(ctx, p.key(), t, result, err)
}

func (p *Patcher[T, S]) retry(ctx context.Context, mutate func(T) error, o retryOptions, t *tally) (Result, error) {
	switch {
	case !p.client.hasLiveReader():
		return "", fmt.Errorf("%s: Retry: %w: pass mgr.GetAPIReader() where the StatusClient is made", p.describe(), ErrNoLiveReader)
	case p.isStale():
		return "", p.staleBase()
	case p.Changed() || !p.base.metadata.equals(p.obj):
		return "", fmt.Errorf("%s: Retry: %w: Flush or Discard first, or make the edits inside mutate", p.describe(), ErrPendingChanges)
	}
	active, generation := p.active, p.generation
	defer func() { p.active, p.generation = active, generation }()

	r := retry[T, S]{client: p.client, key: p.key(), options: o, tally: t, fetched: &p.base.identity, body: p.obj, mutate: func(obj T) error {
		p.active, p.generation, p.problems = obj, obj.GetGeneration(), nil
		return mutate(obj)
	}}
	landed, err := r.start(ctx, p.obj, p.base, p.refused != nil)
	if err != nil {
		if r.refused {
			p.refused = err
		}
		return "", err
	}
	if landed.result == ResultPatched || landed.obj.GetResourceVersion() != p.base.identity.resourceVersion {
		p.land(landed.obj, o.allowNewerGeneration && landed.on != p.base.identity.resourceVersion)
		generation = p.generation
	}
	if landed.result == ResultPatched {
		p.flushed(&landed.before)
	}
	return landed.result, p.problem()
}

// land makes what landed the base and the caller's object. Edits of the spec that the caller has not saved stay in the
// object, unless the spec may have changed on the server: then they would be edits of something else.
func (p *Patcher[T, S]) land(landed T, specMayDiffer bool) {
	if specMayDiffer {
		p.restart(landed)
		return
	}
	kept := p.client.kind.New()
	p.client.kind.Assign(kept, p.obj)
	copyMetadata(landed, kept)
	*p.client.kind.Status(kept) = *p.client.kind.Status(landed)
	p.restart(kept)
}

// retry is one call of Retry.
type retry[T client.Object, S any] struct {
	client  *Client[T, S]
	key     client.ObjectKey
	mutate  func(T) error
	options retryOptions
	tally   *tally
	// fetched is the object that the caller has decided on before; nil when it has decided nothing.
	fetched *identity
	// body has the spec that was decided on, for kinds whose generation does not show that it changed.
	body client.Object
	// base is that of the current attempt.
	base *base[S]
	// refused is set if Retry ends because the API server refused the base that the caller has.
	refused bool
}

// landing is what a Retry that succeeded ends on.
type landing[T client.Object, S any] struct {
	obj    T
	before S
	// on is the version that it landed on.
	on     string
	result Result
}

func (r *retry[T, S]) fromLive(ctx context.Context) (landed landing[T, S], err error) {
	if !r.client.hasLiveReader() {
		return landed, fmt.Errorf("%s: Retry: %w: pass mgr.GetAPIReader() where the StatusClient is made", r.client.describe(r.key), ErrNoLiveReader)
	}
	obj, err := r.client.readLive(ctx, r.key)
	if err != nil {
		return landed, r.unread(err)
	}
	r.key = client.ObjectKeyFromObject(obj)
	return r.run(ctx, obj, r.client.capture(obj, new(base[S])))
}

// start makes attempts, the first on what the caller has, unless its base was refused before.
func (r *retry[T, S]) start(ctx context.Context, obj T, b *base[S], refused bool) (landed landing[T, S], err error) {
	if refused {
		if obj, err = r.reread(ctx, b.identity); err != nil {
			return landed, err
		}
		b = r.client.capture(obj, new(base[S]))
	}
	return r.run(ctx, obj, b)
}

// run makes attempts, the first on obj, until one lands, or fails with anything but a conflict. It does not change obj.
func (r *retry[T, S]) run(ctx context.Context, obj T, b *base[S]) (landing[T, S], error) {
	clock := r.client.options.clock
	began := clock.Now()
	for {
		landed, refused, err := r.attempt(ctx, obj, b)
		switch {
		case refused == nil:
			return landed, err
		case r.tally.attempts >= r.options.attempts:
			r.refused = true
			return landed, refused
		}
		if err := r.wait(ctx, clock.Now().Sub(began)); err != nil {
			return landed, fmt.Errorf("%w (%w)", refused, err)
		}
		began = clock.Now()
		if obj, err = r.reread(ctx, b.identity); err != nil {
			return landed, err
		}
		b = r.client.capture(obj, new(base[S]))
	}
}

// attempt decides and writes once. Only a conflict of its own write is refused; one that mutate returns is mutate's error.
func (r *retry[T, S]) attempt(ctx context.Context, obj T, b *base[S]) (landed landing[T, S], refused *ConflictError, err error) {
	landed = landing[T, S]{obj: obj, before: b.status, on: b.identity.resourceVersion, result: ResultUnchanged}
	if err := r.mayWrite(b.identity, obj); err != nil {
		return landed, nil, err
	}
	r.base = b
	work := r.client.kind.objectCopy(obj)
	if err := r.decide(work); err != nil {
		return landed, nil, err
	}
	if err := r.client.onlyStatusChanged(obj, work); err != nil {
		return landed, nil, fmt.Errorf("%s: Retry: %w", r.client.describe(r.key), err)
	}
	d, err := r.client.diff(&b.status, r.client.kind.Status(work))
	if err != nil {
		return landed, nil, fmt.Errorf("%s: %w", r.client.describe(r.key), err)
	}
	if d == nil {
		return landed, nil, nil
	}
	if err := r.client.checkContracts(r.key, &b.status, d, r.options.allowRewrite); err != nil {
		return landed, nil, err
	}
	answer, err := r.client.writeStatus(ctx, r.key, b.identity, d, r.tally)
	if err != nil {
		errors.As(err, &refused)
		return landed, refused, err
	}
	landed.obj, landed.result = answer, ResultPatched
	if answer.GetResourceVersion() == b.identity.resourceVersion {
		landed.result = ResultUnchanged // the server stored nothing, as in Flush
	}
	return landed, nil, nil
}

// decide runs mutate on work. The object of the patcher whose Retry this is must not be written meanwhile either.
func (r *retry[T, S]) decide(work T) error {
	held := work
	if r.body != nil {
		held = r.body.(T)
	}
	return r.client.kind.decide(work, held, r.mutate)
}

// mayWrite stops a Retry on an object that is not the one that was decided on any more.
func (r *retry[T, S]) mayWrite(now identity, obj T) error {
	switch {
	case r.fetched != nil && !r.fetched.isSame(now):
		r.refused = true
		return r.stop(ErrReplaced, fmt.Sprintf("it has UID %s, not %s", now.uid, r.fetched.uid))
	case now.deleting() && !r.options.allowDeleting:
		return r.stop(ErrDeleting, "pass patcher.AllowDeleting() to write its status all the same")
	case r.fetched != nil && !r.options.allowNewerGeneration && r.specChanged(now):
		return r.stop(ErrGenerationChanged, fmt.Sprintf("generation %d was read, and it has %d", r.fetched.generation, now.generation))
	case r.body != nil && !r.options.allowNewerGeneration && now.generation == 0 && now.resourceVersion != r.fetched.resourceVersion && !sameBody(r.body, obj):
		return r.stop(ErrGenerationChanged, "the kind has no generation, and the object differs in more than metadata and status")
	}
	return nil
}

// specChanged: the deletion itself moves the generation by one, and is no change of the spec.
func (r *retry[T, S]) specChanged(now identity) bool {
	expected := r.fetched.generation
	if now.deleting() && !r.fetched.deleting() {
		return now.generation != expected && now.generation != expected+1
	}
	return now.generation != expected
}

func (r *retry[T, S]) stop(reason error, detail string) error {
	return &stopError{
		text:   fmt.Sprintf("%s: %v: %s", r.client.describe(r.key), reason, detail),
		reason: reason,
	}
}

// reread is always live: from a cache that lags, every attempt would see the same stale object.
func (r *retry[T, S]) reread(ctx context.Context, was identity) (T, error) {
	obj, err := r.client.readLive(ctx, r.key)
	switch {
	case err == nil:
	case client.IgnoreNotFound(err) == nil && was.deleting():
		err = errGone
	default:
		err = r.unread(err)
	}
	return obj, err
}

// unread says what is known when a live read fails: every write before it was refused.
func (r *retry[T, S]) unread(err error) error {
	return fmt.Errorf("%s: Retry: not written, since the live read failed: %w", r.client.describe(r.key), err)
}

const (
	minBackoff = time.Millisecond
	maxBackoff = 2 * time.Second
)

// wait backs off before the next attempt: from nothing to two and a half times what the last attempt took, and half as much more with
// each. Writers that collided spread out over about the time of their attempts, on a slow server as on a fast one. Longer waits
// save few requests and leave the server idle; shorter ones collide again. docs/performance.md has the figures.
func (r *retry[T, S]) wait(ctx context.Context, took time.Duration) error {
	backoff := min(max(minBackoff, 5*took/2), maxBackoff)
	for range r.tally.attempts - 1 {
		backoff = min(backoff+backoff/2, maxBackoff)
	}
	jittered := time.Duration(r.client.options.jitter() * float64(backoff))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.client.options.clock.After(jittered):
		return nil
	}
}
