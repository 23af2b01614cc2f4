// Package fixes tests what the forms do, before and after they are fixed.
package fixes

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "example.com/cells/api/v1"
	"example.com/fixes/forms/again"
	"example.com/fixes/forms/baselocal"
	"example.com/fixes/forms/closures"
	"example.com/fixes/forms/contains"
	"example.com/fixes/forms/deferred"
	"example.com/fixes/forms/early"
	"example.com/fixes/forms/finalizer"
	"example.com/fixes/forms/guard"
	"example.com/fixes/forms/handed"
	"example.com/fixes/forms/items"
	"example.com/fixes/forms/outer"
	"example.com/fixes/forms/parameter"
	"example.com/fixes/forms/result"
	"example.com/fixes/forms/retried"
	"example.com/fixes/forms/stale"
)

type reconcile func(ctx context.Context, key client.ObjectKey) error

// manager is as much of one as a set-up asks for.
type manager struct {
	ctrl.Manager
	client client.Client
}

func (m manager) GetClient() client.Client    { return m.client }
func (m manager) GetAPIReader() client.Reader { return m.client }

var forms = map[string]func(c client.Client) reconcile{
	"again": func(c client.Client) reconcile { return (&again.Reconciler{Client: c}).Reconcile },
	"items": func(c client.Client) reconcile { return (&items.Reconciler{Client: c}).Reconcile },
	"stale": func(c client.Client) reconcile { return (&stale.Reconciler{Client: c}).Reconcile },
	"outer": func(c client.Client) reconcile {
		r := &outer.Reconciler{}
		r.SetupWithManager(manager{client: c})
		return r.Reconcile
	},
	"contains": func(c client.Client) reconcile { return (&contains.Reconciler{Client: c}).Reconcile },
	"finalizer": func(c client.Client) reconcile {
		return func(ctx context.Context, key client.ObjectKey) error {
			_, err := (&finalizer.Reconciler{Client: c}).Reconcile(ctx, ctrl.Request{NamespacedName: key})
			return err
		}
	},
	"result": func(c client.Client) reconcile {
		return func(ctx context.Context, key client.ObjectKey) error {
			_, err := (&result.Reconciler{Client: c}).Reconcile(ctx, ctrl.Request{NamespacedName: key})
			return err
		}
	},
	"baselocal": func(c client.Client) reconcile { return (&baselocal.Reconciler{Client: c}).Reconcile },
	"closures":  func(c client.Client) reconcile { return (&closures.Reconciler{Client: c}).Reconcile },
	"deferred":  func(c client.Client) reconcile { return (&deferred.Reconciler{Client: c}).Reconcile },
	"early":     func(c client.Client) reconcile { return (&early.Reconciler{Client: c}).Reconcile },
	"guard":     func(c client.Client) reconcile { return (&guard.Reconciler{Client: c}).Reconcile },
	"handed":    func(c client.Client) reconcile { return (&handed.Reconciler{Client: c}).Reconcile },
	"parameter": func(c client.Client) reconcile { return (&parameter.Reconciler{Client: c}).Reconcile },
	"retried":   func(c client.Client) reconcile { return (&retried.Reconciler{Client: c}).Reconcile },
}

var key = client.ObjectKey{Namespace: "ns", Name: "one"}

func newClient(t *testing.T, status v1.CellStatus, funcs interceptor.Funcs) client.Client {
	t.Helper()
	scheme, err := v1.Register().Build()
	if err != nil {
		t.Fatal(err)
	}
	cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Status: status}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(cell).WithStatusSubresource(cell).WithInterceptorFuncs(funcs).Build()
}

func status(t *testing.T, c client.Client) v1.CellStatus {
	t.Helper()
	cell := &v1.Cell{}
	if err := c.Get(context.Background(), key, cell); err != nil {
		t.Fatal(err)
	}
	return cell.Status
}

func TestBehaviour(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, v1.CellStatus{}, interceptor.Funcs{})
			run := form(c)
			for range 2 {
				if err := run(context.Background(), key); err != nil {
					t.Fatal(err)
				}
			}
			if s := status(t, c); s.Phase != "Planned" || s.Plan == nil || *s.Plan != "mine" {
				t.Errorf("after the reconciles the status is %+v, expected phase Planned and the plan mine", s)
			}
			if err := run(context.Background(), client.ObjectKey{Namespace: "ns", Name: "gone"}); err != nil {
				t.Errorf("a cell that is gone: %v, expected no error", err)
			}
		})
	}
}

// TestDoubleReconcile: between this reconcile's read and its write, another one has made a plan. It must survive.
func TestDoubleReconcile(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			other := false
			plan := func(ctx context.Context, c client.Client) error {
				if other {
					return nil
				}
				other = true
				cell := &v1.Cell{}
				if err := c.Get(ctx, key, cell); err != nil {
					return err
				}
				theirs := "theirs"
				cell.Status.Plan = &theirs
				return c.Status().Update(ctx, cell)
			}
			c := newClient(t, v1.CellStatus{}, interceptor.Funcs{
				SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
					if err := plan(ctx, c); err != nil {
						return err
					}
					return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
				},
				SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
					if !other {
						if err := plan(ctx, c); err != nil {
							return err
						}
					}
					return c.SubResource(sub).Update(ctx, obj, opts...)
				},
			})
			run := form(c)
			if err := run(context.Background(), key); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
			if err := run(context.Background(), key); err != nil {
				t.Fatal(err)
			}
			if s := status(t, c); s.Plan == nil || *s.Plan != "theirs" {
				t.Errorf("the other reconcile's plan is lost: the status is %+v", s)
			}
		})
	}
}
