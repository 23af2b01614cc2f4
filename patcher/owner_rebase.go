package patcher

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rebaseAttempts bounds the writes of one Flush of an owner. They are more than those of Retry, because nothing is decided again, and
// many owners may write one object.
const rebaseAttempts = 24

// rebaseOwned settles a conflict of an owner that declares what it reads. If nothing has changed that the owner decided on, its values
// are put into the live status, and that change is written. The bytes that were refused are never sent again: they hold what other
// owners had written when the object was read, such as required fields and whole lists of conditions.
func (p *Patcher[T, S]) rebaseOwned(ctx context.Context, d *change[S], conflict *ConflictError, t *tally) (Result, error) {
	if !p.base.metadata.equals(p.obj) {
		return "", conflict
	}
	clock := p.client.options.clock
	for t.attempts < rebaseAttempts {
		began := clock.Now()
		live, err := p.client.readLive(ctx, p.key())
		switch {
		case apierrors.IsNotFound(err) && !isNotServed(err):
			return "", p.client.gone(p.key(), p.base.identity, err)
		case err != nil:
			conflict.unsettled = true
			return "", conflict
		}
		result, again, err := p.ontoLive(ctx, d, live, t)
		if again == nil {
			return result, err
		}
		conflict = again
		if !p.client.pause(ctx, spread(5*clock.Now().Sub(began)/2, t.attempts-2)) {
			return "", fmt.Errorf("%w (%w)", conflict, ctx.Err())
		}
	}
	return "", conflict
}

// ontoLive makes one attempt. A conflict of its own write asks for another one.
func (p *Patcher[T, S]) ontoLive(ctx context.Context, d *change[S], live T, t *tally) (Result, *ConflictError, error) {
	c := p.client
	if !p.base.identity.isSame(identityOf(live)) {
		return "", nil, p.decisionChanged(live, "the UID", t)
	}
	status := c.kind.Status(live)
	wanted := c.kind.statusCopy(status)
	err := c.transplantOwned(c.owner, wanted, &p.base.status, c.kind.statusCopy(&d.sent))
	var onto *change[S]
	if err == nil {
		onto, err = c.diff(status, wanted)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", p.describe(), err)
	}
	if onto == nil {
		p.takeRebased(live, live)
		return ResultUnchanged, nil, nil
	}
	if part := p.changedPart(live, &d.sent); part != "" {
		return "", nil, p.decisionChanged(live, part, t)
	}
	if err := c.checkWriteOnce(p.key(), status, &onto.sent, nil); err != nil {
		return "", nil, err
	}
	answer, err := c.writeStatus(ctx, p.key(), identityOf(live), onto, t)
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return "", conflict, nil
	}
	if err != nil {
		return "", nil, err
	}
	p.takeRebased(live, answer)
	return ResultRebased, nil, nil
}

// decisionChanged is the conflict of a decision that rests on what is no longer so.
func (p *Patcher[T, S]) decisionChanged(live T, part string, t *tally) error {
	c := p.client
	return c.conflict(p.key(), p.base.identity.resourceVersion, t.attempts, apierrors.NewConflict(schema.GroupResource{Resource: c.kind.Name}, p.obj.GetName(),
		fmt.Errorf("owner %s decided on %s, which has changed at resourceVersion %s", c.owner.Name, part, live.GetResourceVersion())))
}

// changedPart names what has changed of that which the owner decided on; nothing, if it may be rebased.
func (p *Patcher[T, S]) changedPart(live T, wanted *S) string {
	o, base, now := p.client.owner, p.base, identityOf(live)
	was := reflect.ValueOf(&base.status).Elem()
	is := reflect.ValueOf(p.client.kind.Status(live)).Elem()
	switch {
	case !base.identity.deletionTimestamp.Equal(&now.deletionTimestamp):
		return "metadata.deletionTimestamp"
	case !o.ignored["spec"] && p.specChanged(live):
		return "the spec"
	case !o.ignored["labels"] && !p.samePairs(base.metadata.labelPairs(), live.GetLabels()):
		return "metadata.labels"
	case !o.ignored["annotations"] && !p.samePairs(base.metadata.annotationPairs(), live.GetAnnotations()):
		return "metadata.annotations"
	}
	for i := range o.fields {
		if f := &o.fields[i]; !f.sameIn(was, is) {
			return "its own status." + f.path
		}
	}
	for i := range o.entries {
		e := &o.entries[i]
		if same, err := e.sameIn(was, reflect.ValueOf(wanted).Elem(), is); err != nil || !same {
			return "its own entries of status." + e.list.path
		}
	}
	for _, condition := range o.Conditions {
		if !p.sameCondition(live, condition) {
			return "its own status.conditions[" + condition + "]"
		}
	}
	for i := range o.reads {
		if !p.sameRead(&o.reads[i], was, is, live) {
			return o.reads[i].name
		}
	}
	return ""
}

// specChanged: kinds without a generation are compared in all but metadata and status. A deletion, which moves the generation, was
// looked for before.
func (p *Patcher[T, S]) specChanged(live T) bool {
	if generation := live.GetGeneration(); generation != 0 || p.base.identity.generation != 0 {
		return generation != p.base.identity.generation
	}
	return !sameBody(p.obj, live)
}

// samePairs compares labels or annotations. From a cache that strips some of them, those that are left decide.
func (p *Patcher[T, S]) samePairs(pairs []string, live map[string]string) bool {
	if p.client.options.transformedCache {
		return hasPairs(live, pairs)
	}
	return samePairs(pairs, live)
}

func (p *Patcher[T, S]) sameCondition(live T, conditionType string) bool {
	was := meta.FindStatusCondition(p.client.kind.readConditions(&p.base.status), conditionType)
	is := meta.FindStatusCondition(p.client.kind.readConditions(p.client.kind.Status(live)), conditionType)
	return was == is || was != nil && is != nil && EqualCondition(was, is)
}

func (p *Patcher[T, S]) sameRead(r *read, was, is reflect.Value, live T) bool {
	switch {
	case r.field != nil:
		return r.field.sameIn(was, is)
	case r.condition != "":
		return p.sameCondition(live, r.condition)
	}
	now := metadataOf(live)
	if r.name == "finalizers" {
		return reflect.DeepEqual(append([]string{}, p.base.metadata.finalizers()...), append([]string{}, now.finalizers()...))
	}
	return reflect.DeepEqual(append([]owner{}, p.base.metadata.owners...), append([]owner{}, now.owners...))
}

// takeRebased makes the answer the base and the caller's object, but for what the owner ignores, which stays as the caller has seen it:
// later rebases, Retry and the observed generation go by that. Finalizers and owner references become the live ones, or the caller's
// next Update would remove what other controllers wrote.
func (p *Patcher[T, S]) takeRebased(live, answer T) {
	before := p.base
	answered := p.client.kind.Status(answer)
	p.replaceStatus(answered)
	now := metadataOf(live)
	b := &base[S]{status: *answered, identity: identityOf(answer)}
	b.identity.generation, b.identity.deletionTimestamp = before.identity.generation, before.identity.deletionTimestamp
	b.metadata = metadata{labels: before.metadata.labels, annotations: before.metadata.annotations, owners: now.owners}
	b.metadata.text = append(append([]string{}, before.metadata.text[:2*(b.metadata.labels+b.metadata.annotations)]...), now.finalizers()...)
	p.base = b // not remembered: it is not the state of that version
	p.base.metadata.copyTo(p.obj)
	p.obj.SetResourceVersion(answer.GetResourceVersion())
	if len(p.obj.GetManagedFields()) > 0 {
		p.obj.SetManagedFields(answer.GetManagedFields())
	}
}
