package sim

import (
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

// fieldWrite says who wrote, so that server-side apply can tell later who owns which field.
type fieldWrite struct {
	manager     string
	operation   string
	subresource string
	incoming    map[string]any              // the object as it was asked for, before what this endpoint may not write was put back
	applied     []metav1.ManagedFieldsEntry // what an apply computed
	silent      bool                        // a deletion mark, which nobody owns
	changed     bool                        // an apply moved ownership, though no field
}

// fieldHistory is kept instead of managedFields, which cost more than all the rest of a write and matter to apply
// alone: the writes since the last apply, from which the entries are computed when an apply asks.
type fieldHistory struct {
	entries []metav1.ManagedFieldsEntry
	pending []pendingWrite
}

type pendingWrite struct {
	write fieldWrite
	base  map[string]any
}

// incoming keeps an object from the changes that are made to its top level and its metadata.
func incoming(obj map[string]any) map[string]any {
	out := maps.Clone(obj)
	if metadata, ok := obj["metadata"].(map[string]any); ok {
		out["metadata"] = maps.Clone(metadata)
	}
	return out
}

func fieldsAfter(old *stored, write fieldWrite) fieldHistory {
	if write.applied != nil {
		return fieldHistory{entries: write.applied}
	}
	var h fieldHistory
	base := map[string]any{}
	if old != nil {
		h.entries, base = old.fields.entries, old.visible
		h.pending = old.fields.pending[:len(old.fields.pending):len(old.fields.pending)]
	}
	if write.silent {
		return h
	}
	h.pending = append(h.pending, pendingWrite{write: write, base: base})
	return h
}

// apply is server-side apply, by the code that kube-apiserver runs.
func (s *Server) apply(r *Request) *Answer {
	if r.Query.Get("fieldManager") == "" {
		return refuse(apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "",
			field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")}))
	}
	old := s.objects[r.Key()]
	if old == nil && r.Subresource != "" {
		return refuse(apierrors.NewNotFound(r.Kind.groupResource(), r.Name))
	}
	applied, refused := readApplied(r)
	if refused != nil {
		return refuse(refused)
	}
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetGroupVersionKind(r.Kind.GVK)
	if old != nil {
		entries, err := s.entries(r.Kind, old)
		if err != nil {
			return refuse(apierrors.NewInternalError(err))
		}
		live.Object = copyOf(old)
		live.SetManagedFields(entries)
	} else {
		live.SetName(r.Name)
		live.SetNamespace(r.Namespace)
	}
	return s.applyTo(r, old, live, applied)
}

func (s *Server) applyTo(r *Request, old *stored, live, applied *unstructured.Unstructured) *Answer {
	manager, err := s.fieldManager(r.Kind, r.Subresource)
	if err != nil {
		return refuse(apierrors.NewInternalError(err))
	}
	before := live.GetManagedFields()
	out, err := manager.Apply(live, applied, r.Query.Get("fieldManager"), r.Query.Get("force") == "true")
	if err != nil {
		if status, ok := err.(*apierrors.StatusError); ok {
			return refuse(status)
		}
		return refuse(plainError(err))
	}
	result := out.(*unstructured.Unstructured)
	after := result.GetManagedFields()
	obj, err := r.Kind.appliedObject(result.Object)
	if err != nil {
		return refuse(apierrors.NewBadRequest(err.Error()))
	}
	if err := s.matchName(r, &unstructured.Unstructured{Object: obj}); err != nil {
		return refuse(err)
	}
	write := fieldWrite{manager: r.manager(), operation: "Apply", subresource: r.Subresource, applied: after, changed: !sameOwners(before, after)}
	if old == nil {
		if uid := applied.GetUID(); uid != "" {
			return refuse(apierrors.NewConflict(r.Kind.groupResource(), r.Name,
				fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid)))
		}
		return s.createObject(r, obj, write)
	}
	return s.replace(r, old, obj, write)
}

func readApplied(r *Request) (*unstructured.Unstructured, *apierrors.StatusError) {
	body, err := yaml.YAMLToJSON(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	content, err := parse(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	applied := &unstructured.Unstructured{Object: content}
	if applied.GroupVersionKind() != r.Kind.GVK {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected an object of %s, found %s", r.Kind.GVK, applied.GroupVersionKind()))
	}
	if applied.GetManagedFields() != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return applied, nil
}

// movesOwners tells whether a write that changes no field is a write all the same: one that asked for a change which
// this endpoint ignores, such as labels on the status endpoint, becomes an owner of those fields.
func (s *Server) movesOwners(kind *Kind, old *stored, write fieldWrite) bool {
	if equalWithout(write.incoming, old.visible, "metadata", false) && equalMetadata(write.incoming, old.visible) {
		return false
	}
	before, err := s.entries(kind, old)
	if err != nil {
		return false
	}
	after, err := s.entriesAfter(kind, before, pendingWrite{write: write, base: old.visible})
	return err == nil && !sameOwners(before, after)
}

// equalMetadata compares what of the metadata somebody can own.
func equalMetadata(a, b map[string]any) bool {
	x, _ := a["metadata"].(map[string]any)
	y, _ := b["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences", "generateName"} {
		if !equalJSON(x[name], y[name]) {
			return false
		}
	}
	return true
}

// entries computes managedFields from the writes since the last apply.
func (s *Server) entries(kind *Kind, o *stored) ([]metav1.ManagedFieldsEntry, error) {
	entries := o.fields.entries
	for _, p := range o.fields.pending {
		var err error
		if entries, err = s.entriesAfter(kind, entries, p); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (s *Server) entriesAfter(kind *Kind, entries []metav1.ManagedFieldsEntry, p pendingWrite) ([]metav1.ManagedFieldsEntry, error) {
	manager, err := s.fieldManager(kind, p.write.subresource)
	if err != nil {
		return nil, err
	}
	live := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(p.base)}
	live.SetGroupVersionKind(kind.GVK)
	live.SetManagedFields(entries)
	after := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(p.write.incoming)}
	after.SetManagedFields(entries)
	out, err := manager.Update(live, after, p.write.manager)
	if err != nil {
		return nil, nil // as kube-apiserver: an object that does not fit its schema loses the bookkeeping
	}
	return out.(*unstructured.Unstructured).GetManagedFields(), nil
}

func (s *Server) fieldManager(kind *Kind, subresource string) (*managedfields.FieldManager, error) {
	reset := fieldpath.NewSet()
	if kind.HasStatus {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	}
	if subresource == "status" {
		// NB: measured on 1.36: metadata that a status write asks to change gets no owner.
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	}
	typer, err := kind.typer()
	if err != nil {
		return nil, fmt.Errorf("schema of %s for server-side apply: %w", kind.GVK, err)
	}
	gv := kind.GVK.GroupVersion()
	return managedfields.NewDefaultCRDFieldManager(typer, passThrough{}, passThrough{}, passThrough{}, kind.GVK, gv, subresource,
		map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(gv.String()): fieldpath.NewExcludeSetFilter(reset)})
}

// sameOwners compares entries without their times, which alone do not make a write.
func sameOwners(a, b []metav1.ManagedFieldsEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Manager != b[i].Manager || a[i].Operation != b[i].Operation || a[i].Subresource != b[i].Subresource ||
			a[i].FieldsV1.String() != b[i].FieldsV1.String() {
			return false
		}
	}
	return true
}

// passThrough serves one version, of which every object is unstructured already: nothing to convert or default.
type passThrough struct{}

func (passThrough) Convert(in, out, _ any) error { return nil }
func (passThrough) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (passThrough) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (passThrough) Default(runtime.Object) {}
func (passThrough) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	return u, nil
}
