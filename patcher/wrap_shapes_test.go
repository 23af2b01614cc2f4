package patcher_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// A shape is a way in which operators write status. Nobody else writes in between, so that it must do the same behind Wrap as on the
// bare client.
type shape struct {
	name  string
	write func(ctx context.Context, c client.Client, cell *v1.Cell) error
}

func labeled(cell *v1.Cell) {
	if cell.Labels == nil {
		cell.Labels = map[string]string{}
	}
	cell.Labels["launched"] = "true"
}

var shapes = []shape{
	{"metadata only, sent to both", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		stored := cell.DeepCopy()
		labeled(cell)
		statusCopy := cell.DeepCopy()
		if err := c.Patch(ctx, cell, client.MergeFrom(stored)); err != nil {
			return err
		}
		return c.Status().Patch(ctx, statusCopy, client.MergeFrom(stored))
	}},
	{"CreateOrPatch of spec and status", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		found := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: cell.Namespace, Name: cell.Name}}
		_, err := controllerutil.CreateOrPatch(ctx, c, found, func() error {
			found.Spec.Image, found.Status.Phase = "image:2", "Ready"
			labeled(found)
			return nil
		})
		return err
	}},
	{"CreateOrPatch of a new object", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		found := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: cell.Namespace, Name: "new"}}
		_, err := controllerutil.CreateOrPatch(ctx, c, found, func() error {
			found.Status.Phase = "Ready"
			return nil
		})
		return err
	}},
	{"CreateOrUpdate, and an Update of the status", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		found := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: cell.Namespace, Name: cell.Name}}
		if _, err := controllerutil.CreateOrUpdate(ctx, c, found, func() error { labeled(found); return nil }); err != nil {
			return err
		}
		found.Status.Phase = "Ready"
		return c.Status().Update(ctx, found)
	}},
	{"a new object, and its status from before it was created", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		created := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: cell.Namespace, Name: "new"}}
		status := v1.CellStatus{Phase: "Pending"}
		if err := c.Create(ctx, created); err != nil {
			return err
		}
		created.Status = status
		if err := c.Status().Update(ctx, created); err != nil {
			return err
		}
		created.Status.Phase = "Ready"
		return c.Status().Update(ctx, created)
	}},
	{"a deferred patch from the first base, of an object that was updated in between", func(ctx context.Context, c client.Client, cell *v1.Cell) (err error) {
		base := cell.DeepCopy()
		defer func() { err = c.Status().Patch(ctx, cell, client.MergeFrom(base)) }()
		controllerutil.AddFinalizer(cell, "example.com/finalizer")
		if err := c.Update(ctx, cell); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return nil
	}},
	{"a deferred Update, after patches of the same object", func(ctx context.Context, c client.Client, cell *v1.Cell) (err error) {
		defer func() { err = c.Status().Update(ctx, cell) }()
		base := cell.DeepCopy()
		cell.Status.Phase = "Starting"
		if err := c.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return nil
	}},
	{"a name, and a patch by hand", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		named := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: cell.Namespace, Name: cell.Name}}
		return c.Status().Patch(ctx, named, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Ready"}}`)))
	}},
	{"a helper that reads again", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		for _, phase := range []string{"Starting", "Ready"} {
			newest := &v1.Cell{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(cell), newest); err != nil {
				return err
			}
			base := newest.DeepCopy()
			newest.Status.Phase = phase
			if err := c.Status().Patch(ctx, newest, client.MergeFrom(base)); err != nil {
				return err
			}
			cell.Status = newest.Status
		}
		return nil
	}},
	{"items of a list", func(ctx context.Context, c client.Client, _ *v1.Cell) error {
		list := &v1.CellList{}
		if err := c.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			list.Items[i].Status.Phase = "Ready"
			if err := c.Status().Update(ctx, &list.Items[i]); err != nil {
				return err
			}
		}
		return nil
	}},
	{"an unstructured object of a typed one", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cell)
		if err != nil {
			return err
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(v1.GroupVersion.WithKind("Cell"))
		if err := unstructured.SetNestedField(u.Object, "Ready", "status", "phase"); err != nil {
			return err
		}
		return c.Status().Update(ctx, u)
	}},
	{"another body", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		body := cell.DeepCopy()
		body.Status.Phase = "Ready"
		return c.SubResource("status").Update(ctx, cell, client.WithSubResourceBody(body))
	}},
	{"two writes of copies, each from the response to the one before", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		for _, phase := range []string{"Starting", "Ready"} {
			next := cell.DeepCopy()
			next.Status.Phase = phase
			if err := c.Status().Patch(ctx, next, client.MergeFrom(cell)); err != nil {
				return err
			}
			cell = next
		}
		return nil
	}},
	{"an object that is gone", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		gone := cell.DeepCopy()
		if err := c.Delete(ctx, gone); err != nil {
			return err
		}
		cell.Status.Phase = "Ready"
		return client.IgnoreNotFound(c.Status().Update(ctx, cell))
	}},
	{"a status from JSON", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
		body, err := json.Marshal(map[string]any{"status": map[string]any{"phase": "Ready", "counter": 3}})
		if err != nil {
			return err
		}
		return c.Status().Patch(ctx, cell, client.RawPatch(types.MergePatchType, body))
	}},
}

func TestWrap_ShapesOfOperators(t *testing.T) {
	kept := map[string]context.Context{"a context of its own": t.Context(), "context.Background()": context.Background()}
	for _, s := range shapes {
		for name, ctx := range kept {
			t.Run(s.name+", "+name, func(t *testing.T) {
				bareErr, bare := s.run(t, ctx, func(c client.WithWatch) client.Client { return c })
				for mode, name := range map[patcher.Mode]string{patcher.Report: "Report", patcher.Lock: "Lock"} {
					err, got := s.run(t, ctx, func(c client.WithWatch) client.Client { return patcher.Wrap(c, mode, v1status.Kinds()...) })
					if (err == nil) != (bareErr == nil) || apierrors.ReasonForError(err) != apierrors.ReasonForError(bareErr) {
						t.Errorf("in mode %s: %v, and on the bare client: %v", name, err, bareErr)
					}
					if !reflect.DeepEqual(got, bare) {
						t.Errorf("in mode %s the statuses are %+v, and on the bare client %+v", name, got, bare)
					}
				}
			})
		}
	}
}

// run returns the statuses that a shape leaves, by name.
func (s shape) run(t *testing.T, ctx context.Context, around func(client.WithWatch) client.Client) (error, map[string]v1.CellStatus) {
	t.Helper()
	bare := newFake(t, newCell(0))
	c, cell := around(bare), &v1.Cell{}
	mustNot(t, c.Get(ctx, client.ObjectKeyFromObject(newCell(0)), cell))
	err := s.write(ctx, c, cell)
	statuses := map[string]v1.CellStatus{}
	for _, name := range []string{cell.Name, "new"} {
		live := &v1.Cell{}
		err := bare.Get(ctx, client.ObjectKey{Namespace: cell.Namespace, Name: name}, live)
		mustNot(t, client.IgnoreNotFound(err))
		if err == nil {
			statuses[name] = live.Status
		}
	}
	return err, statuses
}

// The status of a copy that holds the metadata which was written lands, on the fake client as well, unless somebody else wrote before.
func TestWrap_AStatusAfterABlindWriteOfMetadata(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		bare := newFake(t, newCell(0))
		c, cell := lockIn(bare), &v1.Cell{}
		mustNot(t, c.Get(t.Context(), client.ObjectKeyFromObject(newCell(0)), cell))
		if theirs {
			live := cell.DeepCopy()
			live.Spec.Image = "theirs"
			mustNot(t, bare.Update(t.Context(), live))
		}
		stored := cell.DeepCopy()
		labeled(cell)
		cell.Status.Phase = "Ready"
		status := cell.DeepCopy()
		mustNot(t, c.Patch(t.Context(), cell, client.MergeFrom(stored)))
		err := c.Status().Patch(t.Context(), status, client.MergeFrom(stored))
		if apierrors.IsConflict(err) != theirs || !theirs && err != nil {
			t.Errorf("%v, expected a conflict: %v", err, theirs)
		}
	}
}
