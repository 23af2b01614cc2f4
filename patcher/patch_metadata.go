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

// PatchMetadata writes the labels, annotations, finalizers and owner references that mutate changes, locked to the base,
// and moves the base with it, so that a status write before or after it in the same reconcile does not conflict with it.
// If mutate changes nothing, there is no request, and next to no cost.
//
// mutate gets the object with the metadata that the server last acknowledged, to read and to change its metadata. It must
// not keep the object, nor change what the spec points to. Pending edits, of status and of metadata, stay pending in the
// caller's object.
//
// Errors: a *ConflictError; ErrStaleBase; an error if mutate changes anything else, such as the spec; ErrUnknownOutcome;
// the API server's own. On an error nothing has changed.
func (p *Patcher[T, S]) PatchMetadata(ctx context.Context, mutate func(T)) (Result, error) {
	if p.inside {
		return "", p.insideMutate("PatchMetadata")
	}
	before, after, err := p.mutateMetadata(mutate)
	if err == nil && after == nil && p.client.options.observer == nil {
		return ResultUnchanged, nil
	}
	t := p.client.begin(OperationPatchMetadata)
	result := ResultUnchanged
	if err == nil && after != nil {
		result, err = p.patchMetadata(ctx, before, after, &t)
	}
	result, err = p.client.end(ctx, p.key(), t, result, err)
	if isRefusal(err) {
		p.refused = err
	}
	return result, err
}

func (p *Patcher[T, S]) patchMetadata(ctx context.Context, before, after client.Object, t *tally) (Result, error) {
	patch, err := metadataPatch(before, after)
	if err != nil {
		return "", fmt.Errorf("%s: PatchMetadata: %w", p.describe(), err)
	}
	if patch == nil {
		return ResultUnchanged, nil
	}
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

// mutateMetadata runs mutate, and returns the object before and after it; no objects if it changed nothing. Nearly every
// call changes nothing, such as adding the finalizer that has been there since the first reconcile, so no copy is made
// until something has changed.
func (p *Patcher[T, S]) mutateMetadata(mutate func(T)) (before, after client.Object, err error) {
	kind := p.client.kind
	if !kind.Equal(&p.base.status, p.status()) {
		return p.mutateCopy(mutate)
	}
	s := kind.scratch.take(kind)
	defer kind.scratch.giveBack(kind, s)
	s.show(kind, p.obj, p.base.identity, p.base.metadata)
	mutate(s.work)
	switch {
	case !kind.Equal(&p.base.status, p.status()):
		p.replaceStatus(&p.base.status)
		return nil, nil, fmt.Errorf("%s: PatchMetadata: %w", p.describe(), errChanged([]string{"status"}))
	case p.base.metadata.equals(s.work) && s.isUntouched():
		return nil, nil, nil
	}
	unchanged := kind.objectCopy(p.obj)
	unchanged.SetResourceVersion(p.base.identity.resourceVersion)
	p.base.metadata.copyTo(unchanged)
	return unchanged, kind.objectCopy(s.work), nil
}

// mutateCopy runs mutate on a copy of an object whose pending edits of status mutate might change further.
func (p *Patcher[T, S]) mutateCopy(mutate func(T)) (before, after client.Object, err error) {
	unchanged := p.client.kind.objectCopy(p.obj)
	unchanged.SetResourceVersion(p.base.identity.resourceVersion)
	p.base.metadata.copyTo(unchanged)
	changed := p.client.kind.objectCopy(unchanged)
	mutate(changed)
	return unchanged, changed, nil
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

// metadataPatch is the locked patch from before to after; nil if they are the same.
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
