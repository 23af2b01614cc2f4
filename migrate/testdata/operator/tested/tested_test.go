package tested

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "example.com/operator/api/v1"
)

// setUp counts the Updates of the status.
func setUp(t *testing.T) (client.Client, *v1.Cell, *int) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.Register().AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cell := &v1.Cell{}
	cell.Name, cell.Namespace = "a", "b"
	updates := 0
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cell).WithStatusSubresource(cell).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			updates++
			return c.SubResource(name).Update(ctx, obj, opts...)
		},
	}).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cell), cell); err != nil {
		t.Fatal(err)
	}
	return c, cell, &updates
}

func TestUpdate(t *testing.T) {
	c, cell, updates := setUp(t)
	if err := Update(t.Context(), c, cell); err != nil || *updates != 1 {
		t.Errorf("%v, %d updates", err, *updates)
	}
}

func TestAny(t *testing.T) {
	c, cell, _ := setUp(t)
	if err := Any(t.Context(), c, cell); err != nil {
		t.Error(err)
	}
	live := &v1.Cell{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cell), live); err != nil || live.Status.Phase != "Any" {
		t.Errorf("%v, %+v", err, live.Status)
	}
}
