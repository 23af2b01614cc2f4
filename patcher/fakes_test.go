package patcher_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

// newCell is the i-th of many.
func newCell(i int) *v1.Cell {
	return &v1.Cell{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: fmt.Sprintf("cell-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i)), Generation: 1,
	}}
}

// newCellWithStatus is a cell whose status was written before.
func newCellWithStatus(i int) *v1.Cell {
	cell := newCell(i)
	cell.Status.Tier = "gold"
	return cell
}

// newFake is a fake client that holds cells.
func newFake(t testing.TB, cells ...*v1.Cell) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1.GroupVersion.WithKind("Cell"), meta.RESTScopeNamespace)
	builder := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithStatusSubresource(&v1.Cell{})
	for _, cell := range cells {
		builder = builder.WithObjects(cell)
	}
	return builder.Build()
}

// pointer is a client that can be compared with others, as all but the fake ones are.
type pointer struct{ client.WithWatch }

// frozen is a client whose reads return what c holds now: a cache that lags behind every later write.
func frozen(t testing.TB, c client.WithWatch) client.WithWatch {
	t.Helper()
	list := &v1.CellList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	cached := map[client.ObjectKey]*v1.Cell{}
	for i := range list.Items {
		cached[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i]
	}
	return &pointer{interceptor.NewClient(c, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			cached[key].DeepCopyInto(obj.(*v1.Cell))
			return nil
		},
	})}
}

// counted counts the requests that c gets.
type counted struct {
	client.WithWatch
	gets, patches int
}

func newCounted(c client.WithWatch) *counted {
	counts := &counted{}
	counts.WithWatch = interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			counts.gets++
			return c.Get(ctx, key, obj, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			counts.patches++
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	})
	return counts
}

// answering is a client whose status patches all end with err.
func answering(c client.WithWatch, err error) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return err
		},
	})
}

func storageConflict() error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "cells"}, "a", fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
}

func mustNot(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
