package patcher

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Status implements client.StatusClient.
func (w *WrappedClient) Status() client.SubResourceWriter { return w.writerOf(w.Client.Status()) }

// SubResource implements client.SubResourceClientConstructor.
func (w *WrappedClient) SubResource(name string) client.SubResourceClient {
	c := w.Client.SubResource(name)
	if name != "status" {
		return c
	}
	return &wrappedSubResource{SubResourceReader: c, SubResourceWriter: w.writerOf(c)}
}

type wrappedSubResource struct {
	client.SubResourceReader
	client.SubResourceWriter
}

// wrappedStatus decides about each write of a status.
type wrappedStatus struct {
	client.SubResourceWriter
	client *WrappedClient
}

// Update implements client.SubResourceWriter.
func (s *wrappedStatus) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	options := updateOptions(opts)
	sent := obj
	if options.SubResourceBody != nil {
		sent = options.SubResourceBody
	}
	request := request{dryRun: options.DryRun, lock: sent.GetResourceVersion(), ofStatus: true}
	update := func() error {
		return s.client.captureAnswer(ctx, obj, request, func() error { return s.SubResourceWriter.Update(ctx, obj, opts...) })
	}
	kind := s.client.kinds.of(sent)
	switch {
	case kind == nil:
		s.client.report.passed(PassedOtherKind)
		return update()
	case isNoVersion(sent.GetResourceVersion()):
		found := blindWrite{kind: kind, obj: sent, fieldOwner: options.FieldManager, class: BlindUpdate, site: callSite()}
		if s.client.mode == Refuse && !s.client.allows(found) {
			return s.client.refuse(ctx, found)
		}
		s.client.sendBlind(ctx, found)
		return update()
	case s.client.isOvertaken(kind, sent):
		s.client.report.passed(PassedLocked)
		return conflictOf(kind, sent)
	case !s.client.captures() || !kind.kind.owns(sent) || !kind.client.isKnown(sent):
		s.client.report.passed(PassedLocked)
		return update()
	}
	unchanged, err := kind.client.isUnchanged(sent)
	switch {
	case err != nil || !kind.client.hasBaseMetadata(sent):
		// What cannot be compared is sent as it is: the Update has its own lock.
		s.client.report.passed(PassedLocked)
		return update()
	case unchanged && !kind.client.hasEmptyStatus(sent):
		s.client.report.passed(PassedUnchanged)
		return nil
	case !s.client.options.patchUpdates || options.SubResourceBody != nil:
		s.client.report.passed(PassedLocked)
		return update()
	}
	patch, err := kind.client.lockedPatch(sent)
	if err != nil || patch == nil {
		s.client.report.passed(PassedLocked)
		return update()
	}
	s.client.report.passed(PassedPatchedUpdate)
	return s.client.captureAnswer(ctx, obj, request, func() error {
		return s.SubResourceWriter.Patch(ctx, obj, patch, patchOptionsOf(options)...)
	})
}

// updateOptions allocates nothing if there are none.
func updateOptions(opts []client.SubResourceUpdateOption) client.SubResourceUpdateOptions {
	if len(opts) == 0 {
		return client.SubResourceUpdateOptions{}
	}
	var options client.SubResourceUpdateOptions
	return *options.ApplyOptions(opts)
}

// patchOptions allocates nothing if there are none.
func patchOptions(opts []client.SubResourcePatchOption) client.SubResourcePatchOptions {
	if len(opts) == 0 {
		return client.SubResourcePatchOptions{}
	}
	var options client.SubResourcePatchOptions
	return *options.ApplyOptions(opts)
}

// patchOptionsOf are the options of an update for the patch that replaces it.
func patchOptionsOf(o client.SubResourceUpdateOptions) []client.SubResourcePatchOption {
	return []client.SubResourcePatchOption{&client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{
		DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation,
	}}}
}

// Patch implements client.SubResourceWriter.
func (s *wrappedStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	options := patchOptions(opts)
	sent := obj
	if options.SubResourceBody != nil {
		sent = options.SubResourceBody
	}
	d, err := s.client.decide(ctx, sent, patch, options.FieldManager)
	if err != nil || d.patch == nil {
		return err
	}
	request := request{dryRun: options.DryRun, lock: d.lock, ofStatus: true}
	return s.client.captureAnswer(ctx, obj, request, func() error { return s.SubResourceWriter.Patch(ctx, obj, d.patch, opts...) })
}

// A decision is what to send instead of a patch.
type decision struct {
	// patch is nil if there is nothing to send.
	patch client.Patch
	// lock is the version that the API server compares, where that is known.
	lock string
}

// decide returns what to send instead of a patch.
func (w *WrappedClient) decide(ctx context.Context, obj client.Object, patch client.Patch, fieldOwner string) (decision, error) {
	kind := w.kinds.of(obj)
	if kind == nil {
		w.report.passed(PassedOtherKind)
		return decision{patch: patch}, nil
	}
	if patch.Type() == types.ApplyPatchType {
		w.sendBlind(ctx, blindWrite{kind: kind, obj: obj, fieldOwner: fieldOwner, class: BlindApply, site: callSite()})
		return decision{patch: patch}, nil
	}
	content, err := contentOf(patch, obj)
	switch {
	case err != nil:
		return decision{}, err
	case content.class == "":
		w.report.passed(PassedOtherFormat)
		return decision{patch: patch}, nil
	case content.locked && content.lock == obj.GetResourceVersion() && w.isOvertaken(kind, obj) && ofAnotherBase(patch, obj):
		w.report.passed(PassedLocked)
		return decision{}, conflictOf(kind, obj)
	case content.locked:
		w.report.passed(PassedLocked)
		return decision{patch: patch, lock: content.lock}, nil
	case content.empty:
		w.report.passed(PassedUnchanged)
		if w.mode == Report {
			return decision{patch: patch}, nil
		}
		return decision{}, nil
	case !content.status:
		w.report.passed(PassedNoStatus)
		return decision{patch: patch}, nil
	}
	found := blindWrite{kind: kind, obj: obj, fieldOwner: fieldOwner, class: content.class, site: callSite()}
	return w.onBlind(ctx, found, patch, content)
}

// onBlind does with a blind patch what the mode says.
func (w *WrappedClient) onBlind(ctx context.Context, found blindWrite, patch client.Patch, content patchContent) (decision, error) {
	switch {
	case w.mode == Report || w.allows(found):
		w.sendBlind(ctx, found)
		return decision{patch: patch}, nil
	case w.mode == Refuse:
		return decision{}, w.refuse(ctx, found)
	case isNoVersion(found.obj.GetResourceVersion()): // there is nothing to lock it to
		w.sendBlind(ctx, found)
		return decision{patch: patch}, nil
	}
	lock := w.lockFor(ctx, found, content.data)
	locked, err := content.lockedTo(lock)
	if err != nil {
		return decision{}, fmt.Errorf("%s %s: adding the optimistic lock to a status patch: %w", found.kind.kind.KindName(), client.ObjectKeyFromObject(found.obj), err)
	}
	found.action = ActionLocked
	w.blind(ctx, found)
	return decision{patch: client.RawPatch(patch.Type(), locked), lock: lock}, nil
}

// refuse reports a blind write that is not sent, and returns the error that says so.
func (w *WrappedClient) refuse(ctx context.Context, found blindWrite) error {
	found.action = ActionRefused
	w.blind(ctx, found)
	return fmt.Errorf("%s %s: %w: %s at %s carries no resourceVersion, so it would overwrite what others wrote since the object was read; "+
		"flush it with a generated patcher, or add client.MergeFromWithOptimisticLock{} to a patch of an object that was read",
		found.kind.kind.KindName(), client.ObjectKeyFromObject(found.obj), ErrBlindStatusWrite, found.class, found.site)
}

// isNoVersion reports whether a resourceVersion locks nothing. Some kinds take zero for any version.
func isNoVersion(resourceVersion string) bool { return strings.Trim(resourceVersion, "0") == "" }
