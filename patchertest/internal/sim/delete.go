package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (s *Server) delete(r *Request) *Answer {
	var options metav1.DeleteOptions
	if len(r.Body) > 0 {
		if err := json.Unmarshal(r.Body, &options); err != nil {
			return refuse(apierrors.NewBadRequest(err.Error()))
		}
	}
	old := s.objects[r.Key()]
	if old == nil {
		return refuse(apierrors.NewNotFound(r.Kind.groupResource(), r.Name))
	}
	o := &unstructured.Unstructured{Object: old.visible}
	if err := checkPreconditions(r, o, options.Preconditions); err != nil {
		return refuse(err)
	}
	finalizers := deletionFinalizers(o.GetFinalizers(), &options)
	dry := r.dryRun() || slices.Contains(options.DryRun, metav1.DryRunAll)
	if len(finalizers) > 0 {
		return s.beginDeletion(r, old, finalizers, dry)
	}
	if want := options.Preconditions; want != nil && want.ResourceVersion != nil && len(o.GetFinalizers()) > 0 {
		// NB: the policy takes the last finalizer away, and kube-apiserver then misses the version in its own update.
		return refuse(apierrors.NewConflict(r.Kind.groupResource(), r.Name, errModified))
	}
	if !dry {
		s.remove(r.Key(), old, old.visible)
	}
	details := map[string]any{"name": r.Name, "kind": r.Kind.Plural, "uid": string(o.GetUID())}
	if r.Kind.GVK.Group != "" {
		details["group"] = r.Kind.GVK.Group
	}
	return &Answer{Code: http.StatusOK, Object: map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success", "details": details,
	}}
}

func checkPreconditions(r *Request, o *unstructured.Unstructured, want *metav1.Preconditions) *apierrors.StatusError {
	if want == nil {
		return nil
	}
	// NB: these two conflicts name the kind where all others name the resource.
	kind := schema.GroupResource{Group: r.Kind.GVK.Group, Resource: r.Kind.GVK.Kind}
	if want.UID != nil && *want.UID != o.GetUID() {
		return apierrors.NewConflict(kind, r.Name,
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *want.UID, o.GetUID()))
	}
	if want.ResourceVersion != nil && *want.ResourceVersion != o.GetResourceVersion() {
		return apierrors.NewConflict(kind, r.Name,
			fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *want.ResourceVersion, o.GetResourceVersion()))
	}
	return nil
}

// deletionFinalizers are the object's own, plus the one by which the garbage collector learns of the propagation policy.
func deletionFinalizers(own []string, options *metav1.DeleteOptions) []string {
	policy := options.PropagationPolicy
	if policy == nil {
		return own
	}
	out := slices.DeleteFunc(slices.Clone(own), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch *policy {
	case metav1.DeletePropagationOrphan:
		out = append(out, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}

// beginDeletion marks the object; asked a second time it changes nothing.
func (s *Server) beginDeletion(r *Request, old *stored, finalizers []string, dry bool) *Answer {
	obj := copyOf(old)
	u := &unstructured.Unstructured{Object: obj}
	u.SetFinalizers(finalizers)
	if u.GetDeletionTimestamp() == nil {
		now, grace := metav1.NewTime(s.now()), int64(0)
		u.SetDeletionTimestamp(&now)
		u.SetDeletionGracePeriodSeconds(&grace)
		if u.GetGeneration() > 0 {
			u.SetGeneration(u.GetGeneration() + 1)
		}
	}
	if dry || equalJSON(obj, old.disk) {
		return &Answer{Code: http.StatusOK, Object: obj}
	}
	entry := s.commit(r.Kind, r.Key(), old, obj, false, fieldWrite{silent: true})
	return &Answer{Code: http.StatusOK, Object: entry.visible}
}

func (s *Server) deleteCollection(r *Request) *Answer {
	listed := s.list(r)
	if listed.Err != nil {
		return listed
	}
	for _, item := range listed.Object["items"].([]any) {
		u := &unstructured.Unstructured{Object: item.(map[string]any)}
		one := *r
		one.Verb, one.Namespace, one.Name = "delete", u.GetNamespace(), u.GetName()
		if answer := s.delete(&one); answer.Err != nil {
			return answer
		}
	}
	return listed
}
