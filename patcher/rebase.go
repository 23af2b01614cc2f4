package patcher

import (
	"context"
	"encoding/json"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rebase sends the change once more under the live resourceVersion, if nothing that it was decided on has changed. What
// another controller wrote in between then lies outside the decision: a finalizer, an owner reference.
func (p *Patcher[T, S]) rebase(ctx context.Context, d *change[S], conflict *ConflictError, t *tally) (Result, error) {
	if !p.base.metadata.equals(p.obj) {
		return "", conflict
	}
	live, err := p.client.readLive(ctx, p.key())
	if err != nil {
		conflict.unsettled = true
		return "", conflict
	}
	if !p.decidedOn(live) {
		return "", conflict
	}
	answer, err := p.client.writeStatus(ctx, p.key(), identityOf(live), d, t)
	if err != nil {
		return "", err
	}
	p.acknowledge(d, answer, metadataOf(answer))
	// Without the live metadata the caller's next Update would remove what the other controller wrote.
	p.base.metadata.copyTo(p.obj)
	return ResultRebased, nil
}

// decidedOn reports whether live differs from the base in nothing that a reconcile decides on.
func (p *Patcher[T, S]) decidedOn(live T) bool {
	base, now := p.base.identity, identityOf(live)
	if !base.isSame(now) || base.generation != now.generation ||
		!base.deletionTimestamp.Equal(&now.deletionTimestamp) || !p.sameLabels(live) {
		return false
	}
	if now.generation == 0 && !sameBody(p.obj, live) {
		return false
	}
	equal, err := p.client.equalStatus(&p.base.status, p.client.kind.Status(live))
	return err == nil && equal
}

// sameLabels compares labels and annotations. From a cache that strips some annotations, those that are left decide.
func (p *Patcher[T, S]) sameLabels(live T) bool {
	if p.client.options.transformedCache {
		return p.base.metadata.isPartOf(live)
	}
	return p.base.metadata.sameLabels(live)
}

// sameBody compares all but metadata and status, for kinds whose generation does not tell that the spec changed.
func sameBody(a, b client.Object) bool {
	bodyA, errA := body(a)
	bodyB, errB := body(b)
	return errA == nil && errB == nil && reflect.DeepEqual(bodyA, bodyB)
}

func body(obj client.Object) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	err = json.Unmarshal(data, &fields)
	for _, name := range []string{"kind", "apiVersion", "metadata", "status"} {
		delete(fields, name)
	}
	return fields, err
}
