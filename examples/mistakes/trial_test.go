package mistakes

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// trial is one operator with a Database in a namespace of its own, reconciled by hand.
type trial struct {
	*testing.T
	ctx      context.Context
	operator operator
	client   client.WithWatch // the user's, and any other writer's
	database *v1.Database
	events   events
}

func newTrial(t *testing.T, o operator) *trial {
	// Generous: it ends a test that hangs, and decides nothing.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	tr := &trial{T: t, ctx: ctx, operator: o, client: server.Client(t, newScheme(t))}
	tr.database = &v1.Database{
		ObjectMeta: metav1.ObjectMeta{Namespace: server.Namespace(t), Name: "orders"},
		Spec:       v1.DatabaseSpec{Image: "postgres:18"},
	}
	tr.create(tr.database)
	return tr
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func (tr *trial) create(obj client.Object) {
	tr.Helper()
	if err := tr.client.Create(tr.ctx, obj); err != nil {
		tr.Fatal(err)
	}
}

// read brings the object up to date.
func (tr *trial) read(obj client.Object) {
	tr.Helper()
	if err := tr.client.Get(tr.ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		tr.Fatal(err)
	}
}

// replica returns a client of its own for a process of the operator, with the Wraps of a Recorder, Gate or Fault.
func (tr *trial) replica(wraps ...transport.WrapperFunc) client.WithWatch {
	tr.Helper()
	return server.Client(tr.T, newScheme(tr.T), wraps...)
}

// databases returns the Database reconciler of a replica without a cache.
func (tr *trial) databases(wraps ...transport.WrapperFunc) reconcile.Reconciler {
	c := tr.replica(wraps...)
	return tr.operator.database(c, c, &tr.events)
}

// reconcile runs r on the object once.
func (tr *trial) reconcile(r reconcile.Reconciler, obj client.Object) (reconcile.Result, error) {
	return r.Reconcile(tr.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
}

// settle runs r on the object as often as a controller would to bring it where nothing changes; errors are tried again.
func (tr *trial) settle(r reconcile.Reconciler, obj client.Object) {
	tr.Helper()
	const enough = 8
	for range enough {
		if _, err := tr.reconcile(r, obj); err != nil {
			tr.Logf("reconcile: %v", err)
		}
	}
	tr.read(obj)
}

// ready settles the Database and requires that it is what its spec asks for.
func (tr *trial) ready() {
	tr.Helper()
	tr.settle(tr.databases(), tr.database)
	if status := tr.database.Status; status.Phase != v1.PhaseReady || status.ObservedGeneration != tr.database.Generation {
		tr.Fatalf("not ready: %+v", status)
	}
}

// held starts a reconcile and returns when it is about to make a request that gate holds; finish lets it go on to its end, through the gate.
func (tr *trial) held(gate *realserver.Gate, r reconcile.Reconciler, obj client.Object) (finish func()) {
	tr.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := tr.reconcile(r, obj)
		done <- err
	}()
	held, err := gate.Next(tr.ctx)
	if err != nil {
		tr.Fatal(err)
	}
	return func() {
		ctx, cancel := context.WithCancel(tr.ctx)
		go func() {
			if err := <-done; err != nil {
				tr.Logf("reconcile: %v", err)
			}
			cancel()
		}()
		for err := error(nil); err == nil; held, err = gate.Next(ctx) {
			held.Release() // this write, and those that follow it
		}
	}
}

// stale returns a client that reads Databases as this one is now, like a cache that lags, and writes to the server.
func (tr *trial) stale(c client.WithWatch) client.Client {
	tr.read(tr.database)
	frozen := tr.database.DeepCopy()
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if database, ok := obj.(*v1.Database); ok && key == client.ObjectKeyFromObject(frozen) {
				frozen.DeepCopyInto(database)
				return nil
			}
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if databases, ok := list.(*v1.DatabaseList); ok {
				databases.Items = []v1.Database{*frozen.DeepCopy()}
				return nil
			}
			return c.List(ctx, list, opts...)
		},
	})
}

// events counts what a Recorder is told.
type events struct{ reasons []string }

func (e *events) Event(_ runtime.Object, _, reason, _ string) { e.reasons = append(e.reasons, reason) }
