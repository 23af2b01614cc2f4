package patcher

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PatchMetadata writes the labels, annotations, finalizers and owner references that mutate changes, in one merge patch locked
// to the base, and makes what the API server returned the new base. A status write before or after it in the same reconcile
// therefore does not conflict with it. If mutate changes nothing, there is no request.
//
// mutate receives the object with the metadata that the API server last acknowledged. It may read all of it and change the
// metadata; it must not keep it. If it changes anything else, PatchMetadata returns an error and writes nothing. Pending edits
// of status and metadata stay pending in the caller's object.
//
// To detect a change of spec or status, mutate runs on a copy of the object. If it changed nothing, the same function later
// runs without a copy, at next to no cost, until the object's metadata or generation changes. If it then behaves differently,
// for example because of a variable that it captures, it must not write through pointers, maps and slices of spec and status:
// they are the caller's, and such a write is not detected.
//
// Errors: a *ConflictError; ErrStaleBase; ErrInsideMutate; ErrUnknownOutcome; an error if mutate changes anything but
// metadata; the API server's own. On an error nothing has changed.
func (p *Patcher[T, S]) PatchMetadata(ctx context.Context, mutate func(T)) (Result, error) {
	if err := p.client.mayWrite("PatchMetadata", p.obj); err != nil {
		return "", err
	}
	patch, err := p.mutateMetadata(mutate)
	if err == nil && patch == nil && p.client.options.observer == nil {
		return ResultUnchanged, nil
	}
	t := p.client.begin(OperationPatchMetadata)
	result := ResultUnchanged
	if err == nil && patch != nil {
		result, err = p.patchMetadata(ctx, patch, &t)
	}
	result, err = p.client.end(ctx, p.key(), t, result, err)
	if isRefusal(err) {
		p.refused = err
	}
	return result, err
}

func (p *Patcher[T, S]) patchMetadata(ctx context.Context, patch client.Patch, t *tally) (Result, error) {
	answer, err := p.patchObject(ctx, patch, t)
	if err != nil {
		return "", err
	}
	acknowledged := metadataOf(answer)
	p.base.metadata.carryOver(p.obj, acknowledged)
	p.obj.SetDeletionTimestamp(answer.GetDeletionTimestamp())
	// The version alone does not tell whether the write landed: removing the last finalizer of an object that is being
	// deleted does not move it.
	stored := !p.base.metadata.equals(answer) || answer.GetResourceVersion() != p.base.identity.resourceVersion
	p.moveTo(answer, &base[S]{status: p.base.status, identity: identityOf(answer), metadata: acknowledged})
	if !stored {
		return ResultUnchanged, nil
	}
	return ResultPatched, nil
}

// mutateMetadata runs mutate, and returns the patch that writes what it changed; nil if it changed nothing.
func (p *Patcher[T, S]) mutateMetadata(mutate func(T)) (client.Patch, error) {
	memory, now := p.client.memory, p.client.options.clock.Now()
	key, state := settledKeyOf(p.base.identity, mutate), p.base.state()
	if memory.settled.has(now, key, state) {
		return p.mutateShared(mutate)
	}
	patch, err := p.metadataPatch(p.mutateCopy(mutate))
	if patch == nil && err == nil {
		memory.settled.add(now, key, state)
	}
	return patch, err
}

// mutateShared runs a mutate that is expected to change nothing on a scratch object, whose spec and status are the
// caller's.
func (p *Patcher[T, S]) mutateShared(mutate func(T)) (client.Patch, error) {
	kind := p.client.kind
	s := kind.scratch.take(kind)
	defer kind.scratch.giveBack(kind, s)
	s.show(kind, p.obj, p.base.identity, p.base.metadata)
	p.runMutate(s.work, mutate)
	if p.base.metadata.equals(s.work) && s.isUntouched() {
		return nil, nil
	}
	return p.metadataPatch(p.acknowledgedCopy(), kind.objectCopy(s.work))
}

// mutateCopy runs mutate on a copy, and returns another one that mutate has not seen.
func (p *Patcher[T, S]) mutateCopy(mutate func(T)) (before, after T) {
	unchanged := p.acknowledgedCopy()
	changed := p.client.kind.objectCopy(unchanged)
	p.runMutate(changed, mutate)
	return unchanged, changed
}

func (p *Patcher[T, S]) runMutate(work T, mutate func(T)) {
	deciding := &p.client.kind.deciding
	deciding.begin(work, p.obj)
	defer deciding.end(work, p.obj)
	mutate(work)
}

// acknowledgedCopy is a copy of the caller's object with the version and the metadata of the base.
func (p *Patcher[T, S]) acknowledgedCopy() T {
	obj := p.client.kind.objectCopy(p.obj)
	obj.SetResourceVersion(p.base.identity.resourceVersion)
	p.base.metadata.copyTo(obj)
	return obj
}

// patchObject sends a patch of the object itself, locked to the base.
func (p *Patcher[T, S]) patchObject(ctx context.Context, patch client.Patch, t *tally) (T, error) {
	answer := p.client.kind.New()
	answer.SetName(p.obj.GetName())
	answer.SetNamespace(p.obj.GetNamespace())
	switch {
	case p.isStale():
		return answer, p.staleBase()
	case p.refused != nil:
		return answer, p.refused
	}
	return answer, p.client.send(ctx, p.key(), p.base.identity, answer, t, func() error {
		return p.client.client.Patch(ctx, answer, patch)
	})
}

// metadataPatch returns the locked patch from before to after; nil if they are the same.
func (p *Patcher[T, S]) metadataPatch(before, after T) (client.Patch, error) {
	patch, err := metadataPatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("%s: PatchMetadata: %w", p.describe(), err)
	}
	return patch, nil
}

func metadataPatch(before, after client.Object) (client.Patch, error) {
	data, err := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(after)
	if err != nil {
		return nil, err
	}
	changed, metadata, err := patchedFields(data)
	switch {
	case err != nil:
		return nil, err
	case len(changed) > 0:
		return nil, errChanged(changed)
	}
	for _, name := range metadata {
		switch name {
		case "labels", "annotations", "finalizers", "ownerReferences":
		default:
			return nil, fmt.Errorf("mutate changed metadata.%s; it may change labels, annotations, finalizers and ownerReferences", name)
		}
	}
	if len(metadata) == 0 {
		return nil, nil
	}
	return client.RawPatch(types.MergePatchType, data), nil
}

func errChanged(fields []string) error {
	return fmt.Errorf("mutate changed %s; it may change metadata only: write status with Flush, and the spec with PatchSpec",
		strings.Join(fields, ", "))
}

// patchedFields returns which fields a locked merge patch of an object changes, at the top and in its metadata.
func patchedFields(data []byte) (top, metadata []string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, nil, err
	}
	var inMetadata map[string]json.RawMessage
	if err := json.Unmarshal(fields["metadata"], &inMetadata); err != nil {
		return nil, nil, err
	}
	delete(fields, "metadata")
	delete(inMetadata, "resourceVersion")
	return slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(inMetadata)), nil
}
