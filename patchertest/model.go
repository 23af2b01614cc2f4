package patchertest

import (
	"context"
	"fmt"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// Model is what is explored: objects, controllers, foreign writers, and what must hold. The function given to Explore
// builds it afresh for every schedule, so that no schedule sees the memory of another.
type Model struct {
	// Scheme knows every kind of the model.
	Scheme *runtime.Scheme
	// CRDs give scope, status subresource, pruning, defaults and validation of custom resources; ReadCRDs reads them.
	// A custom kind without a CRD is namespaced, has a status subresource if its Go type has a Status field, and no schema.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Objects are there, status and all, before the first reconcile.
	Objects []client.Object
	// Controllers all run in each replica.
	Controllers []Controller
	// Foreign writes come from outside the replicas, each at any moment; those of one writer in their order.
	Foreign []Step
	// Indexes are the field indexes of the cache, as IndexField registers them.
	Indexes []Index
	// Kinds are generated kinds, v1status.Kinds(), whose contracts every write must keep. Those that a controller uses a StatusClient
	// of are known without it.
	Kinds []patcher.AnyKind
	// Invariants are what must hold.
	Invariants []Invariant
}

// Controller is what a manager's builder is told of a controller.
type Controller struct {
	// Name is what reports call it. It must be unique in the model.
	Name string
	// For is the kind that is reconciled; Predicates filter its events, as builder.WithPredicates on For does.
	For        client.Object
	Predicates []predicate.Predicate
	// Owns are kinds whose events are mapped to the controller owner of kind For.
	Owns []client.Object
	// Watches are further kinds, with their own handlers.
	Watches []Watch
	// Uncached kinds are read live by the client, as the manager's client option DisableFor makes them.
	Uncached []client.Object
	// New builds the reconciler of one replica; after a crash it is called again. The client reads from the replica's
	// cache, live is what mgr.GetAPIReader returns. Both may be used in Reconcile only.
	New func(c client.Client, live client.Reader) reconcile.Reconciler
}

// Watch is one kind that a controller watches. Either Handler or Map says which keys an event queues, of those that Predicates let
// through.
type Watch struct {
	// Object is an empty object of the kind.
	Object  client.Object
	Handler handler.EventHandler
	// Map is what handler.EnqueueRequestsFromMapFunc takes; its client reads from the replica's cache.
	Map        func(ctx context.Context, c client.Client, obj client.Object) []reconcile.Request
	Predicates []predicate.Predicate
}

// Index is a field index of the cache: Object, Field and Extract are what client.FieldIndexer's IndexField takes.
type Index struct {
	Object  client.Object
	Field   string
	Extract client.IndexerFunc
}

// Step is one step of a foreign writer: another controller, or somebody with kubectl. Its calls happen at once, with
// nothing in between. A step that is refused because its object is gone or has changed is over; other errors end the test.
type Step struct {
	// Writer groups steps that come in order; steps of different writers come in any order.
	Writer string
	// Name is what reports call the step.
	Name string
	// Run makes the calls. Its client reads live.
	Run func(ctx context.Context, c client.Client) error
}

// By names the writer of a step. Steps without one are of the writer "foreign".
func (s Step) By(writer string) Step {
	s.Writer = writer
	return s
}

// Mutate is a foreign write of everything but status: the object is read live, changed and updated.
//
//	patchertest.Mutate(key, func(c *v1.Cell) { c.Spec.Paused = true })
func Mutate[T client.Object](key client.ObjectKey, change func(T)) Step {
	return mutation("Update", key, change, func(ctx context.Context, c client.Client, obj, _ client.Object) error {
		return c.Update(ctx, obj)
	})
}

// MutateStatus is a foreign write of status.
func MutateStatus[T client.Object](key client.ObjectKey, change func(T)) Step {
	return mutation("Update status of", key, change, func(ctx context.Context, c client.Client, obj, _ client.Object) error {
		return c.Status().Update(ctx, obj)
	})
}

func mutation[T client.Object](verb string, key client.ObjectKey, change func(T), write func(context.Context, client.Client, client.Object, client.Object) error) Step {
	return Step{Name: fmt.Sprintf("%s %s/%s", verb, kindName[T](), key.Name), Run: func(ctx context.Context, c client.Client) error {
		obj := newObject[T]()
		if err := c.Get(ctx, key, obj); err != nil {
			return err
		}
		before := obj.DeepCopyObject().(client.Object)
		change(obj)
		return write(ctx, c, obj, before)
	}}
}

// Create is a foreign creation. The object is copied first.
func Create(obj client.Object) Step {
	return Step{Name: "Create " + obj.GetName(), Run: func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, obj.DeepCopyObject().(client.Object))
	}}
}

// Delete is a foreign deletion of the object of type T.
func Delete[T client.Object](key client.ObjectKey) Step {
	return Step{Name: fmt.Sprintf("Delete %s/%s", kindName[T](), key.Name), Run: func(ctx context.Context, c client.Client) error {
		obj := newObject[T]()
		obj.SetName(key.Name)
		obj.SetNamespace(key.Namespace)
		return c.Delete(ctx, obj)
	}}
}

func newObject[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

func kindName[T client.Object]() string {
	return lower(reflect.TypeFor[T]().Elem().Name())
}
