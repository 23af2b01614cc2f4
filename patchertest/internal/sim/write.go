package sim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func (s *Server) create(r *Request) *Answer {
	obj, err := s.readBody(r.Kind, r.Body)
	if err != nil {
		return refuse(err)
	}
	return s.createObject(r, obj, fieldWrite{manager: r.manager(), operation: "Update"})
}

func (s *Server) createObject(r *Request, obj map[string]any, write fieldWrite) *Answer {
	u := &unstructured.Unstructured{Object: obj}
	if err := s.matchNamespace(r, u); err != nil {
		return refuse(err)
	}
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(u.GetGenerateName() + s.suffix(r))
	}
	key := Key{Kind: r.Kind.GVK.GroupKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	version := u.GetResourceVersion()
	write.incoming = incoming(obj)
	s.fillSystemFields(r.Kind, u)
	if errs := r.Kind.validateCreate(obj); len(errs) > 0 {
		return refuse(apierrors.NewInvalid(r.Kind.GVK.GroupKind(), u.GetName(), errs))
	}
	if version != "" && version != "0" && write.operation != "Apply" {
		return refuse(plainError(errors.New("resourceVersion should not be set on objects to be created")))
	}
	if s.objects[key] != nil {
		return refuse(apierrors.NewAlreadyExists(r.Kind.groupResource(), key.Name))
	}
	if r.dryRun() {
		return &Answer{Code: http.StatusCreated, Object: obj}
	}
	s.incarnations[key]++
	u.SetUID(s.newUID(key))
	entry := s.commit(r.Kind, key, nil, obj, false, write)
	return &Answer{Code: http.StatusCreated, Object: entry.visible}
}

// plainError is what becomes of an error in kube-apiserver that is no API status: a 500 without a reason.
func plainError(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// fillSystemFields sets what a client cannot: status is dropped, generation starts at 1, deletion has not begun.
func (s *Server) fillSystemFields(kind *Kind, u *unstructured.Unstructured) {
	if kind.HasStatus {
		delete(u.Object, "status")
	}
	if kind.countsGenerations() {
		u.SetGeneration(1)
	}
	u.SetResourceVersion("")
	u.SetUID("")
	u.SetCreationTimestamp(metav1.NewTime(s.now()))
	u.SetDeletionTimestamp(nil)
	u.SetDeletionGracePeriodSeconds(nil)
	u.SetSelfLink("")
}

// suffix of a generated name: repeatable, and independent of what happens to objects of other prefixes.
func (s *Server) suffix(r *Request) string {
	h := fnv.New32a()
	_, _ = h.Write(r.Body)
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	for salt := 0; ; salt++ {
		n, name := h.Sum32()+uint32(salt)*2654435761, make([]byte, 5)
		for i := range name {
			name[i] = letters[n%uint32(len(letters))]
			n /= uint32(len(letters))
		}
		key := r.Key()
		key.Name = string(name)
		if s.incarnations[key] == 0 {
			s.incarnations[key]++
			return string(name)
		}
	}
}

func (s *Server) update(r *Request) *Answer {
	obj, refused := s.readBody(r.Kind, r.Body)
	if refused != nil {
		return refuse(refused)
	}
	u := &unstructured.Unstructured{Object: obj}
	if err := s.matchName(r, u); err != nil {
		return refuse(err)
	}
	old := s.objects[r.Key()]
	if old == nil {
		return refuse(apierrors.NewNotFound(r.Kind.groupResource(), r.Name))
	}
	uid := (&unstructured.Unstructured{Object: old.visible}).GetUID()
	if u.GetUID() != "" && u.GetUID() != uid {
		return refuse(apierrors.NewConflict(r.Kind.groupResource(), r.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", u.GetUID(), uid)))
	}
	return s.replace(r, old, obj, fieldWrite{manager: r.manager(), operation: "Update", subresource: r.Subresource})
}

// replace is the second half of update, patch and apply: preconditions, rules, and the write unless nothing changed.
func (s *Server) replace(r *Request, old *stored, obj map[string]any, write fieldWrite) *Answer {
	isStatus := r.Subresource == "status"
	if err := s.checkVersion(r, old, obj); err != nil {
		return refuse(err)
	}
	if err := s.matchNamespace(r, &unstructured.Unstructured{Object: obj}); err != nil {
		return refuse(err)
	}
	write.incoming = incoming(obj)
	obj = r.Kind.prepareUpdate(obj, old.visible, isStatus)
	if errs := r.Kind.validateUpdate(obj, old.visible, isStatus); len(errs) > 0 {
		return refuse(apierrors.NewInvalid(r.Kind.GVK.GroupKind(), r.Name, errs))
	}
	u := &unstructured.Unstructured{Object: obj}
	o := &unstructured.Unstructured{Object: old.disk}
	u.SetResourceVersion(o.GetResourceVersion())
	if finished(u, o) {
		if r.dryRun() {
			return &Answer{Code: http.StatusOK, Object: obj}
		}
		s.remove(r.Key(), old, obj)
		return &Answer{Code: http.StatusOK, Object: obj} // NB: with the version before the deletion
	}
	if equalJSON(obj, old.disk) && !write.changed && !s.movesOwners(r.Kind, old, write) {
		return &Answer{Code: http.StatusOK, Object: old.visible}
	}
	if r.dryRun() {
		return &Answer{Code: http.StatusOK, Object: obj}
	}
	entry := s.commit(r.Kind, r.Key(), old, obj, isStatus, write)
	return &Answer{Code: http.StatusOK, Object: entry.visible}
}

// finished: the last finalizer of an object that is being deleted is gone.
func finished(u, old *unstructured.Unstructured) bool {
	grace := old.GetDeletionGracePeriodSeconds()
	return u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 && len(old.GetFinalizers()) > 0 && (grace == nil || *grace == 0)
}

func (s *Server) checkVersion(r *Request, old *stored, obj map[string]any) *apierrors.StatusError {
	u, o := &unstructured.Unstructured{Object: obj}, &unstructured.Unstructured{Object: old.visible}
	version := u.GetResourceVersion()
	if version == "" || version == "0" {
		if r.Kind.unconditional() {
			u.SetResourceVersion(o.GetResourceVersion())
			return nil
		}
		gk := schema.GroupKind{Group: r.Kind.GVK.Group, Kind: r.Kind.Plural}
		return apierrors.NewInvalid(gk, r.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
	}
	if version != o.GetResourceVersion() {
		return apierrors.NewConflict(r.Kind.groupResource(), r.Name, errModified)
	}
	return nil
}

// readBody decodes an object that a client sent.
func (s *Server) readBody(kind *Kind, body []byte) (map[string]any, *apierrors.StatusError) {
	obj, err := parse(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return s.decoded(kind, obj)
}

func (s *Server) decoded(kind *Kind, obj map[string]any) (map[string]any, *apierrors.StatusError) {
	if apiVersion, want := obj["apiVersion"], kind.GVK.GroupVersion().String(); apiVersion == nil && obj["kind"] == nil {
		obj["apiVersion"], obj["kind"] = want, kind.GVK.Kind
	} else if apiVersion != want {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%v) does not match the expected API version (%s)", apiVersion, want))
	}
	if _, ok := obj["metadata"].(map[string]any); !ok {
		obj["metadata"] = map[string]any{}
	}
	if err := kind.decode(obj); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	obj, err := kind.typed(obj)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj, nil
}

func (s *Server) matchName(r *Request, u *unstructured.Unstructured) *apierrors.StatusError {
	if u.GetName() != r.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", u.GetName(), r.Name))
	}
	return s.matchNamespace(r, u)
}

func (s *Server) matchNamespace(r *Request, u *unstructured.Unstructured) *apierrors.StatusError {
	switch u.GetNamespace() {
	case "":
		if r.Namespace != "" {
			u.SetNamespace(r.Namespace)
		}
	case r.Namespace:
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

func (r *Request) manager() string {
	if name := r.Query.Get("fieldManager"); name != "" {
		return name
	}
	return "unknown"
}

func (r *Request) dryRun() bool { return r.Query.Get("dryRun") == "All" }

func (s *Server) get(r *Request) *Answer {
	o := s.objects[r.Key()]
	if o == nil {
		return refuse(apierrors.NewNotFound(r.Kind.groupResource(), r.Name))
	}
	return &Answer{Code: http.StatusOK, Object: o.visible}
}

func copyOf(o *stored) map[string]any { return runtime.DeepCopyJSON(o.visible) }
