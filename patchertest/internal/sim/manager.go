package sim

import (
	"fmt"

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
	applied     []metav1.ManagedFieldsEntry // what an apply computed
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
	after map[string]any
	base  map[string]any
}

func fieldsAfter(old *stored, write fieldWrite, after map[string]any) fieldHistory {
	if write.applied != nil {
		return fieldHistory{entries: write.applied}
	}
	var h fieldHistory
	base := map[string]any{}
	if old != nil {
		h.entries, base = old.fields.entries, old.visible
		h.pending = old.fields.pending[:len(old.fields.pending):len(old.fields.pending)]
	}
	h.pending = append(h.pending, pendingWrite{write: write, after: after, base: base})
	return h
}

// apply is server-side apply, by the code that kube-apiserver runs.
func (s *Server) apply(r *Request) *Answer {
	applied, refused := readApplied(r)
	if refused != nil {
		return refuse(refused)
	}
	old := s.objects[r.Key()]
	if old == nil && r.Subresource != "" {
		return refuse(apierrors.NewNotFound(r.Kind.groupResource(), r.Name))
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
		if uid := applied.GetUID(); uid != "" {
			return refuse(apierrors.NewConflict(r.Kind.groupResource(), r.Name,
				fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid)))
		}
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
		return refuse(apierrors.NewBadRequest(err.Error()))
	}
	result := out.(*unstructured.Unstructured)
	after := result.GetManagedFields()
	obj, refused := s.decoded(r.Kind, result.Object)
	if refused != nil {
		return refuse(refused)
	}
	if err := s.matchName(r, &unstructured.Unstructured{Object: obj}); err != nil {
		return refuse(err)
	}
	write := fieldWrite{manager: r.manager(), operation: "Apply", subresource: r.Subresource, applied: after, changed: !sameOwners(before, after)}
	if old == nil {
		return s.createObject(r, obj, write)
	}
	return s.replace(r, old, obj, write)
}

func readApplied(r *Request) (*unstructured.Unstructured, *apierrors.StatusError) {
	if r.Query.Get("fieldManager") == "" {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "",
			field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")})
	}
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(r.Body, &applied.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if applied.GroupVersionKind() != r.Kind.GVK {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected an object of %s, found %s", r.Kind.GVK, applied.GroupVersionKind()))
	}
	if applied.GetManagedFields() != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return applied, nil
}

// entries computes managedFields from the writes since the last apply.
func (s *Server) entries(kind *Kind, o *stored) ([]metav1.ManagedFieldsEntry, error) {
	entries := o.fields.entries
	for _, p := range o.fields.pending {
		manager, err := s.fieldManager(kind, p.write.subresource)
		if err != nil {
			return nil, err
		}
		live := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(p.base)}
		live.SetGroupVersionKind(kind.GVK)
		live.SetManagedFields(entries)
		after := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(p.after)}
		after.SetManagedFields(entries)
		out, err := manager.Update(live, after, p.write.manager)
		if err != nil {
			return nil, err
		}
		entries = out.(*unstructured.Unstructured).GetManagedFields()
	}
	return entries, nil
}

func (s *Server) fieldManager(kind *Kind, subresource string) (*managedfields.FieldManager, error) {
	reset := fieldpath.NewSet()
	if kind.HasStatus {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	}
	if subresource == "status" {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	}
	gv := kind.GVK.GroupVersion()
	return managedfields.NewDefaultCRDFieldManager(kind.typeConverter(), passThrough{}, passThrough{}, passThrough{}, kind.GVK, gv, subresource,
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
