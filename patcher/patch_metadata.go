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
// mutate gets a copy of the object with the metadata that the server last acknowledged. Pending edits, of status and of
// metadata, stay pending in the caller's object.
//
// Errors: a *ConflictError; ErrStaleBase; an error when mutate changes anything else, such as the spec; ErrUnknownOutcome;
// the API server's own. On an error nothing has changed.
func (p *Patcher[T, S]) PatchMetadata(ctx context.Context, mutate func(T)) (Result, error) {
	t := p.client.begin(OperationPatchMetadata)
	result, err := p.patchMetadata(ctx, mutate, &t)
	return p.client.end(ctx, p.key(), t, result, err)
}

func (p *Patcher[T, S]) patchMetadata(ctx context.Context, mutate func(T), t *tally) (Result, error) {
	before := p.client.kind.objectCopy(p.obj)
	before.SetResourceVersion(p.base.identity.resourceVersion)
	p.base.metadata.copyTo(before)
	after := p.client.kind.objectCopy(before)
	mutate(after)

	patch, err := metadataPatch(before, after)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: PatchMetadata: %w", p.describe(), err)
	case patch == nil:
		return ResultUnchanged, nil
	case p.isStale():
		return "", p.staleBase()
	}
	answer := p.client.kind.New()
	answer.SetName(p.key().Name)
	answer.SetNamespace(p.key().Namespace)
	err = p.client.send(ctx, p.key(), p.base.identity, answer, t, func() error {
		return p.client.client.Patch(ctx, answer, patch)
	})
	if err != nil {
		return "", err
	}
	acknowledged := metadataOf(answer)
	p.base.metadata.carryOver(p.obj, acknowledged)
	p.obj.SetDeletionTimestamp(answer.GetDeletionTimestamp())
	p.moveTo(answer, &base[S]{status: p.base.status, identity: identityOf(answer), metadata: acknowledged})
	return ResultPatched, nil
}

// metadataPatch is the locked patch from before to after; nil when they are the same.
func metadataPatch(before, after client.Object) (client.Patch, error) {
	data, err := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(after)
	if err != nil {
		return nil, err
	}
	var parts map[string]map[string]any
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, fmt.Errorf("mutate changed more than metadata: %w", err)
	}
	changed := parts["metadata"]
	delete(parts, "metadata")
	delete(changed, "resourceVersion")
	if len(parts) > 0 {
		return nil, fmt.Errorf("mutate changed %s; it may change metadata only: write status with Flush, and the spec with your client",
			strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		switch name {
		case "labels", "annotations", "finalizers", "ownerReferences":
		default:
			return nil, fmt.Errorf("mutate changed metadata.%s; it may change labels, annotations, finalizers and ownerReferences", name)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return client.RawPatch(types.MergePatchType, data), nil
}
