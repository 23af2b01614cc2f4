package main

import (
	"context"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
	"github.com/statuspatcher/statuspatcher/hack/bench/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// wrapItems is the length of the lists that BenchmarkWrap reads.
const wrapItems = 100

// versioned is a memory whose reads return another version each time, unless it stands still.
type versioned struct {
	*memory
	still bool
	n     int
}

func (*versioned) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return v1.GroupVersion.WithKind("Workload"), nil
}

func (v *versioned) version() string {
	if !v.still {
		v.n++
	}
	return strconv.Itoa(1000 + v.n)
}

func (v *versioned) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := v.memory.Get(ctx, key, obj, opts...)
	obj.SetResourceVersion(v.version())
	return err
}

// Update is one of metadata or spec: the object gets a new version.
func (v *versioned) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	obj.SetResourceVersion(v.version())
	return nil
}

func (v *versioned) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	items := make([]v1.Workload, wrapItems)
	for i := range items {
		v.stored.DeepCopyInto(&items[i])
		items[i].ResourceVersion = v.version()
	}
	list.(*v1.WorkloadList).Items = items
	return nil
}

// BenchmarkWrap measures what patcher.Wrap adds to a request. The bare client is in memory and does what a cache does for a read, and
// what a client does for a write before it sends it.
func BenchmarkWrap(b *testing.B) {
	wrapped := func(c client.Client) client.Client { return patcher.Wrap(c, patcher.Lock, v1status.Kinds()...) }
	clients := []struct {
		name string
		new  func(client.Client) client.Client
	}{
		{"bare", func(c client.Client) client.Client { return c }},
		{"wrapped", wrapped},
		{"not-registered", func(c client.Client) client.Client { return patcher.Wrap(c, patcher.Lock) }},
	}
	for _, request := range []struct {
		name  string
		still bool
		per   int
		do    func(ctx context.Context, c client.Client, obj *v1.Workload) error
	}{
		{"Get", false, 1, get},
		{"Get-same-version", true, 1, get},
		{"List-item", false, wrapItems, list},
		{"List-item-same-version", true, wrapItems, list},
		{"Get+Status-Update", false, 1, func(ctx context.Context, c client.Client, obj *v1.Workload) error {
			if err := get(ctx, c, obj); err != nil {
				return err
			}
			obj.Status.Phase = "Failed"
			return c.Status().Update(ctx, obj)
		}},
		{"Get+Status-Patch", false, 1, func(ctx context.Context, c client.Client, obj *v1.Workload) error {
			if err := get(ctx, c, obj); err != nil {
				return err
			}
			base := obj.DeepCopy()
			obj.Status.Phase = "Failed"
			return c.Status().Patch(ctx, obj, client.MergeFrom(base))
		}},
		{"Get+Update", false, 1, func(ctx context.Context, c client.Client, obj *v1.Workload) error {
			if err := get(ctx, c, obj); err != nil {
				return err
			}
			return c.Update(ctx, obj)
		}},
	} {
		for _, by := range clients {
			b.Run("request="+request.name+"/by="+by.name, func(b *testing.B) {
				fixture := sizes[1].object()
				bare := &versioned{memory: newMemory(fixture, func(s *v1.WorkloadStatus) { s.Phase = "Failed" }), still: request.still}
				c, ctx, obj := by.new(bare), b.Context(), &v1.Workload{}
				b.ReportAllocs()
				began := processTime()
				for range b.N {
					if err := request.do(ctx, c, obj); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processTime()-began).Nanoseconds())/float64(b.N*request.per), "cpu-ns/op")
			})
		}
	}
}

func get(ctx context.Context, c client.Client, obj *v1.Workload) error {
	return c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, obj)
}

func list(ctx context.Context, c client.Client, _ *v1.Workload) error {
	return c.List(ctx, &v1.WorkloadList{})
}

// The patch helpers of Flux and Cluster API write the conditions and the rest of a status in two requests, both of the version that was
// read. Behind a client that knows the reconcile they do not conflict with themselves.
func TestPatchHelpersBehindWrap(t *testing.T) {
	for _, by := range contestants {
		if by.name != byFlux && by.name != byClusterAPI && by.name != byHand && by.name != byRetryUpdate {
			continue
		}
		for _, row := range []struct {
			name  string
			stale bool
		}{{"newest", false}, {"control: stale", true}} {
			t.Run(by.name+"/"+row.name, func(t *testing.T) {
				obj := sizes[1].object()
				obj.ResourceVersion = ""
				bare := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(obj).WithStatusSubresource(obj).Build()
				oneReconcile := patcher.WithReconcileID(func(context.Context) types.UID { return "one" })
				c := patcher.Wrap(bare, patcher.Lock, v1status.Kinds()...).With(oneReconcile)
				got := &v1.Workload{}
				if err := get(t.Context(), c, got); err != nil {
					t.Fatal(err)
				}
				if row.stale {
					other := got.DeepCopy()
					other.Status.Replicas++
					if err := bare.Status().Update(t.Context(), other); err != nil {
						t.Fatal(err)
					}
				}
				err := by.new(c)(t.Context(), got, func(s *v1.WorkloadStatus) {
					s.Phase = "Failed"
					s.Conditions[0].Reason = "Failed"
				})
				retries := by.name == byRetryUpdate
				if (err != nil) != (row.stale && !retries) {
					t.Errorf("%v", err)
				}
				if err := get(t.Context(), bare, got); err != nil {
					t.Fatal(err)
				}
				if landed := got.Status.Phase == "Failed"; landed == (row.stale && !retries) {
					t.Errorf("the phase landed: %v", landed)
				}
			})
		}
	}
}
