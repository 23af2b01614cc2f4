package patcher

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PatchSpec writes what mutate changes outside of metadata and status, in one merge patch locked to the base, and makes what the
// API server returned the new base. A status write later in the same reconcile therefore does not conflict with it, and
// SetCondition and SetObservedGeneration stamp the generation of the new spec. If mutate changes nothing, there is no request.
//
// mutate receives a copy of the object. Afterwards the caller's object has the spec that the API server returned, with its
// defaults; edits of the spec that were made outside of mutate are discarded. Pending edits of status and metadata stay
// pending.
//
// Errors: a *ConflictError; ErrStaleBase; ErrInsideMutate; ErrUnknownOutcome; an error if mutate changes metadata or status;
// the API server's own. On an error nothing has changed.
func (p *Patcher[T, S]) PatchSpec(ctx context.Context, mutate func(T)) (Result, error) {
	if err := p.client.mayWrite("PatchSpec", p.obj); err != nil {
		return "", err
	}
	t := p.client.begin(OperationPatchSpec)
	result, err := p.patchSpec(ctx, mutate, &t)
	result, err = p.client.end(ctx, p.key(), t, result, err)
	if isRefusal(err) {
		p.refused = err
	}
	return result, err
}

func (p *Patcher[T, S]) patchSpec(ctx context.Context, mutate func(T), t *tally) (Result, error) {
	before, after := p.mutateCopy(mutate)
	patch, err := specPatch(before, after)
	if err != nil {
		return "", fmt.Errorf("%s: PatchSpec: %w", p.describe(), err)
	}
	if patch == nil {
		return ResultUnchanged, nil
	}
	answer, err := p.patchObject(ctx, patch, t)
	if err != nil {
		return "", err
	}
	if answer.GetResourceVersion() == p.base.identity.resourceVersion {
		return ResultUnchanged, nil
	}
	p.takeSpec(answer)
	return ResultPatched, nil
}

// takeSpec makes the answer the caller's object, but for what is pending in it.
func (p *Patcher[T, S]) takeSpec(answer T) {
	kind, acknowledged := p.client.kind, metadataOf(answer)
	pending := kind.New()
	kind.Assign(pending, p.obj)
	p.base.metadata.carryOver(pending, acknowledged)

	*kind.Status(answer) = *kind.Status(pending)
	answer.SetLabels(pending.GetLabels())
	answer.SetAnnotations(pending.GetAnnotations())
	answer.SetFinalizers(pending.GetFinalizers())
	answer.SetOwnerReferences(pending.GetOwnerReferences())
	keepTypeMeta(p.obj, answer)
	kind.Assign(p.obj, answer)
	p.generation = answer.GetGeneration()
	p.moveTo(answer, &base[S]{status: p.base.status, identity: identityOf(answer), metadata: acknowledged})
}

// specPatch is the locked patch from before to after; nil if they are the same.
func specPatch(before, after client.Object) (client.Patch, error) {
	data, err := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(after)
	if err != nil {
		return nil, err
	}
	changed, metadata, err := patchedFields(data)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(changed, "status"):
		return nil, fmt.Errorf("mutate changed status; it may change the spec only: write status with Flush")
	case len(metadata) > 0:
		return nil, fmt.Errorf("mutate changed metadata.%s; it may change the spec only: write metadata with PatchMetadata", strings.Join(metadata, ", metadata."))
	case len(changed) == 0:
		return nil, nil
	}
	return client.RawPatch(types.MergePatchType, data), nil
}
